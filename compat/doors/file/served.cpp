// SPDX-License-Identifier: BSD-3-Clause
#include "file/served.hpp"

#include <H5public.h>
#include <dlfcn.h>
#include <sys/stat.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "built_with.h"

namespace door {

thread_local int WithinShoal::depth = 0;

Variable* ServedFile::variable(int varid) {
  const bool there = varid >= 0 && static_cast<std::size_t>(varid) < definitions.vars.size();
  return there ? &definitions.vars[static_cast<std::size_t>(varid)] : nullptr;
}

Attributes* ServedFile::attributes(int varid) {
  if (varid == NC_GLOBAL) return &definitions.attributes;
  Variable* var = variable(varid);
  return var == nullptr ? nullptr : &var->attributes;
}

std::int64_t ServedFile::shared_records(int dimid) const {
  // Of any variable with it: records are the dimension's.
  for (const Variable& var : definitions.vars) {
    std::int64_t records = 0;
    if (!var.made || dataset == nullptr || var.dims.empty() || var.dims[0] != dimid) continue;
    // By the name that Shoal has: it may have got another one since then.
    shoal_var_info shown = SHOAL_VAR_INFO_INIT;
    const bool known = shoal_inq_var(dataset, var.number, &shown) == SHOAL_OK &&
                       shoal_num_records(dataset, shown.name, &records) == SHOAL_OK;
    return known ? records : 0;
  }
  return 0;
}

void ServedFile::release() {
  if (dataset != nullptr) shoal_abandon(&dataset);
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
}

AttributeOwner owner_of(ServedFile& file, int varid) {
  const Variable* var = file.variable(varid);
  return {var == nullptr, var == nullptr ? "" : var->name};
}

DefinitionsEnd end_in_shoal(ServedFile& file, const char* call, const std::function<int()>& define) {
  // Definitions that are refused go with the handle, and what was written before must not.
  if (file.in_place)
    if (const int code = shoal_sync(file.dataset, 0); code != SHOAL_OK) return {code};
  file.stored = file.in_place;
  file.together = false;
  int wrong = define();
  const std::string message = shoal_error_message();
  const int code =
      shoal_match_data(file.dataset, call, nullptr, &wrong, wrong == SHOAL_OK ? nullptr : message.c_str());
  if (code != SHOAL_OK) return {code};
  if (wrong == SHOAL_OK) wrong = shoal_end_define(file.dataset);
  return {wrong, true};
}

int define_steps(const ServedFile& file) {
  for (const Step& step : file.steps)
    if (step.in_shoal)
      if (const int code = step.in_shoal(file.dataset); code != SHOAL_OK) return code;
  return SHOAL_OK;
}

void settle(ServedFile& file) {
  file.defining = false;
  file.in_place = true;
  file.stored = false;
  file.steps.clear();
  for (Variable& var : file.definitions.vars) {
    var.made = true;
    shoal_find_var(file.dataset, var.name.c_str(), &var.number);
  }
}

void drop_new(ServedFile& file) {
  int rank = 0;
  MPI_Comm_rank(file.comm, &rank);
  shoal_abandon(&file.dataset);
  MPI_Barrier(file.comm);
  if (rank != 0) return;
  // A store that was never committed has an empty zarr.json; one that it was to replace is as it was.
  const std::string claim = file.path + "/zarr.json";
  struct stat status {};
  if (file.is_store && ::stat(claim.c_str(), &status) == 0 && status.st_size == 0) std::remove(claim.c_str());
  std::remove(file.path.c_str());
}

std::string hint(MPI_Info info, const char* name) {
  std::vector<char> value(MPI_MAX_INFO_VAL + 1);
  int there = 0;
  if (info == MPI_INFO_NULL) return "";
  MPI_Info_get(info, const_cast<char*>(name), MPI_MAX_INFO_VAL, value.data(), &there);
  return there != 0 ? value.data() : "";
}

namespace {

bool of_rank_0(MPI_Comm comm, bool yes) {
  int answer = yes ? 1 : 0;
  MPI_Bcast(&answer, 1, MPI_INT, 0, comm);
  return answer != 0;
}

}  // namespace

bool makes_store(MPI_Comm comm, const std::string& path) {
  const std::string ending = ".zarr";
  const char* const asked = std::getenv("SHOAL_FORMAT");
  const bool is_asked = asked != nullptr && std::strcmp(asked, "zarr") == 0;
  return of_rank_0(comm, is_asked || (path.size() > ending.size() &&
                                      path.compare(path.size() - ending.size(), ending.size(), ending) == 0));
}

const char* format_in_shoal(const ServedFile& file) {
  return file.is_store ? "zarr" : name_of_format(file.format);
}

void say_store_stays(const ServedFile& file, const std::string& reason) {
  int rank = 0;
  MPI_Comm_rank(file.comm, &rank);
  if (rank == 0)
    std::fprintf(
        stderr,
        "shoal: %s: %s: left to the library in a NetCDF file, and not possible in a store of Zarr; leave "
        "it out, or make a NetCDF file\n",
        file.path.c_str(), reason.c_str());
}

bool finds_store(MPI_Comm comm, const char* path) {
  struct stat status {};
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return of_rank_0(comm, rank == 0 && ::stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

std::string settings_of_new(const ServedFile& file) {
  std::string settings = std::string("format=") + format_in_shoal(file) + ", attributes=rank0, pack=none";
  if ((file.mode & NC_NOCLOBBER) != 0) settings += ", exists=error";
  // As defaults of the program: "stripe_count?=4".
  const auto take = [&](const char* name, const char* setting, long long multiple) {
    const long long number = std::atoll(hint(file.info, name).c_str());
    if (number > 0 && number % multiple == 0)
      settings += ", " + std::string(setting) + "?=" + std::to_string(number);
  };
  take("striping_factor", "stripe_count", 1);
  take("striping_unit", "stripe_bytes", 65536);
  return settings;
}

// That depends on whether their symbols have versions. Asked of a function that is bound as Shoal's are.
bool has_own_hdf5(char* why, std::size_t size) {
  Dl_info found{};
  const bool known = dladdr(reinterpret_cast<const void*>(&H5get_libversion), &found) != 0;
  if (known && std::strstr(found.dli_fname, SHOAL_DOOR_HDF5_FILE) != nullptr) return true;
  char real[PATH_MAX];  // it may have been loaded by the name of a link
  if (known && realpath(found.dli_fname, real) != nullptr &&
      std::strstr(real, SHOAL_DOOR_HDF5_FILE) != nullptr)
    return true;
  std::snprintf(why, size, "Shoal's calls of HDF5 would end in %s in place of %s; load a Shoal of the former",
                known ? found.dli_fname : "an unknown library", SHOAL_DOOR_HDF5_FILE);
  return false;
}

}  // namespace door
