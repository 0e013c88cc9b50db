// SPDX-License-Identifier: BSD-3-Clause
#include "verify.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "dataset_check.hpp"
#include "files.hpp"
#include "inject_error.hpp"
#include "plain_file.hpp"

namespace shoal::bench {

namespace {

#ifdef SHOAL_HAVE_NETCDF

std::int64_t wrong_definitions(PlainFile& file, const Content& content) {
  std::int64_t wrong = 0;
  for (const auto& field : content.fields) {
    PlainVariable found;
    if (!file.find(field.name, found) || found.dims.size() != field.dims.size()) {
      ++wrong;
      continue;
    }
    for (const auto& [key, value] : field.attributes)
      wrong += file.text(field.name, key) != value;
  }
  return wrong;
}

std::int64_t wrong_in(const Run& run, const std::string& path) {
  return wrong_in_dataset(run.comm, path, run.content, run.records);
}

std::int64_t wrong_by_library(const Run& run) {
  if (!run.content.define_only) return wrong_in(run, run.path);
  if (run.rank != 0) return 0;
  return wrong_definitions(*open_plain(pieces_of(run.path).at(0)), run.content);
}

#else

std::int64_t wrong_in(const Run& run, const std::string& path) {
  if (run.format == "raw" || run.format == "ascii")
    return wrong_in_dataset(run.comm, path, run.content, run.records);
  const auto& entry = find_method("native");
  const auto shoal = entry.make(entry);
  std::vector<LocalField> arrays;
  for (const auto& a : run.arrays)
    arrays.emplace_back(a.field(), a.tile(), 1);
  for (auto& a : arrays)
    a.spoil();
  std::int64_t wrong = 0;
  Phases unused;
  const KeyValues none;
  Run check{.comm = run.comm,
            .rank = run.rank,
            .ranks = run.ranks,
            .path = path,
            .format = run.format,
            .records = run.records,
            .content = run.content,
            .settings = none,
            .hints = none,
            .arrays = arrays,
            .phases = unused};
  shoal->prepare(check);
  shoal->open(check);
  for (std::int64_t r = -1; r < run.records; ++r) {
    shoal->get(check, r);
    wrong += wrong_in_arrays(arrays, r);
  }
  shoal->close(check);
  return wrong;
}

std::int64_t wrong_by_library(const Run& run) {
  if (run.content.define_only)
    throw std::runtime_error("definitions cannot be checked: this build has no netCDF-C");
  return wrong_in(run, run.path);
}

#endif

}  // namespace

std::int64_t wrong_in_file(Method& method, Run& run) {
  std::int64_t wrong = method.wrong_in_file(run);
  if (wrong < 0) wrong = wrong_by_library(run);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, run.comm);
  return wrong;
}

std::int64_t wrong_in_joined(const Run& run, const std::string& path) {
  std::int64_t wrong = wrong_in(run, path);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, run.comm);
  return wrong;
}

std::int64_t wrong_in_arrays(const std::vector<LocalField>& arrays, std::int64_t record) {
  std::int64_t wrong = 0;
  for (const auto& array : arrays)
    if (array.field().record == (record >= 0))
      wrong += array.wrong_cells(0, std::max<std::int64_t>(record, 0));
  return wrong;
}

void inject_error(const Run& run) {
  const bool bare = run.format == "raw" && !std::filesystem::exists(pieces_of(run.path).at(0) + ".json");
  inject_error(run.path, run.content, run.records, run.arrays.back().tile(), bare);
}

const char* checked_by() {
#ifdef SHOAL_HAVE_NETCDF
  return "serial netCDF-C";
#else
  return "Shoal itself";
#endif
}

}  // namespace shoal::bench
