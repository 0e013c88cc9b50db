// SPDX-License-Identifier: BSD-3-Clause
// Files are made and opened: by Shoal, or by the program's own library where Shoal cannot; what that finds
// wrong has its own codes then.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "calls/calls.hpp"
#include "data/quantize.hpp"
#include "file/choice.hpp"
#include "file/schema.hpp"
#include "handback/outline.hpp"
#include "handback/report.hpp"

namespace door::serve {

namespace {

int make_in_library(const char* path, int mode, MPI_Comm comm, MPI_Info info, int* ncidp) {
  return library().nc_create_par != nullptr ? library().nc_create_par(path, mode, comm, info, ncidp)
                                            : NC_ENOPAR;
}
int open_in_library(const char* path, int mode, MPI_Comm comm, MPI_Info info, int* ncidp) {
  return library().nc_open_par != nullptr ? library().nc_open_par(path, mode, comm, info, ncidp) : NC_ENOPAR;
}

std::unique_ptr<File> begin(const char* path, int mode, MPI_Comm comm, MPI_Info info) {
  auto file = std::make_unique<File>();
  file->path = path;
  file->mode = mode;
  MPI_Comm_dup(comm, &file->comm);
  MPI_Comm_size(comm, &file->ranks);
  if (info != MPI_INFO_NULL) MPI_Info_dup(info, &file->info);
  return file;
}

int keep(std::unique_ptr<File> file, int* ncidp) {
  *ncidp = add(std::move(file));
  return NC_NOERR;
}

// What Shoal could not make or open: an error of a setting or of a store is told, the library reports others.
// Collective; frees the communicator.
int left(File& file, int code, const char* call) {
  const int told = code == SHOAL_SETTING || file.is_store ? report_error(file, call, code) : NC_NOERR;
  if (told == NC_NOERR) note_not_served(file.comm, file.path.c_str(), shoal_error_message());
  file.release();
  return told;
}

// Rank 0's outline of a file as the library has it, which tells whether both number it alike. Local.
std::string outline_in_library(const File& file) {
  int rank = 0, ncid = -1;
  MPI_Comm_rank(file.comm, &rank);
  if (rank != 0 || program().open_one == nullptr) return "";
  if (program().open_one(file.path.c_str(), NC_NOWRITE, &ncid) != NC_NOERR) return "";
  const std::string outline = outline_of(library(), ncid);
  library().nc_close(ncid);
  return outline;
}

// All ranks have rank 0's answer.
bool agreed(const File& file, bool yes) {
  int answer = yes ? 1 : 0;
  MPI_Bcast(&answer, 1, MPI_INT, 0, file.comm);
  return answer != 0;
}

// Has the library no access for ranks together, as it was built without MPI, or for classic files without
// PnetCDF? Collective.
bool lacks_access(MPI_Comm comm, int code) {
  int lacks = code == NC_ENOPAR || code == NC_ENOTBUILT || code == NC_ENOTNC ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MIN, comm);
  return lacks != 0;
}

bool is_rank_0(const File& file) {
  int rank = 0;
  MPI_Comm_rank(file.comm, &rank);
  return rank == 0;
}

}  // namespace

int nc_create_par(const char* path, int cmode, MPI_Comm comm, MPI_Info info, int* ncidp) {
  const Choice choice = WithinShoal::now() ? Choice{} : choose(path, cmode, true, comm);
  if (choice.code != NC_NOERR) return choice.code;
  if (!choice.serve || ncidp == nullptr || !has_room()) {
    if (!choice.why_not.empty()) note_not_served(comm, path, choice.why_not);
    return make_in_library(path, cmode, comm, info, ncidp);
  }
  std::unique_ptr<File> file = begin(path, cmode, comm, info);
  // Of a store the program sees the richest model, that of netCDF-4.
  file->is_store = makes_store(comm, path);
  file->format = file->is_store ? NC_FORMAT_NETCDF4 : format_of(cmode);
  file->writable = file->is_new = file->defining = true;
  const WithinShoal within;
  const int code = shoal_create(file->comm, path, settings_of_new(*file).c_str(), &file->dataset);
  if (code == SHOAL_OK) return keep(std::move(file), ncidp);
  const int told = left(*file, code, "nc_create_par");
  return told != NC_NOERR ? told : make_in_library(path, cmode, comm, info, ncidp);
}

int nc_open_par(const char* path, int mode, MPI_Comm comm, MPI_Info info, int* ncidp) {
  const Choice choice = WithinShoal::now() ? Choice{} : choose(path, mode, false, comm);
  if (choice.code != NC_NOERR) return choice.code;
  const bool is_store = choice.serve_if_needed && finds_store(comm, path);  // which netCDF cannot open
  if ((!choice.serve && !is_store) || ncidp == nullptr || !has_room()) {
    if (!choice.why_not.empty()) note_not_served(comm, path, choice.why_not);
    const int code = open_in_library(path, mode, comm, info, ncidp);
    if (!choice.serve_if_needed || ncidp == nullptr || !has_room() || !lacks_access(comm, code)) return code;
  }
  std::unique_ptr<File> file = begin(path, mode, comm, info);
  const WithinShoal within;
  const std::string outline = is_store ? "" : outline_in_library(*file);
  if (!is_store && !agreed(*file, !outline.empty())) {
    note_not_served(file->comm, path, "netCDF cannot open it, or it has groups or types of its own");
    file->release();
    return open_in_library(path, mode, comm, info, ncidp);
  }
  file->is_store = is_store;
  file->writable = (mode & NC_WRITE) != 0;
  file->in_place = true;
  const int code = shoal_open(file->comm, path, file->writable ? SHOAL_WRITE : SHOAL_READ,
                              "attributes=rank0, pack=none", &file->dataset);
  if (code != SHOAL_OK) {
    const int told = left(*file, code, "nc_open_par");
    return told != NC_NOERR ? told : open_in_library(path, mode, comm, info, ncidp);
  }
  const bool read = read_schema(file->dataset, file->definitions, file->format);
  for (Variable& var : file->definitions.vars)
    if (file->netcdf4()) read_quantize(var);
  if (agreed(*file, read && (is_store || !is_rank_0(*file) || outline == outline_of(*file))))
    return keep(std::move(file), ncidp);
  shoal_close(&file->dataset, 0);
  const char* const why = "it has groups, or variables that Shoal does not move";
  if (is_store) {
    say_store_stays(*file, why);
    file->release();
    return NC_ENOTBUILT;
  }
  note_not_served(file->comm, path, why);
  file->release();
  return open_in_library(path, mode, comm, info, ncidp);
}

int nc_create_par_fortran(const char* path, int cmode, int comm, int info, int* ncidp) {
  return serve::nc_create_par(path, cmode, MPI_Comm_f2c(comm), MPI_Info_f2c(info), ncidp);
}

int nc_open_par_fortran(const char* path, int mode, int comm, int info, int* ncidp) {
  return serve::nc_open_par(path, mode, MPI_Comm_f2c(comm), MPI_Info_f2c(info), ncidp);
}

}  // namespace door::serve
