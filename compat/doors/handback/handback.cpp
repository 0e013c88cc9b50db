// SPDX-License-Identifier: BSD-3-Clause
#include "handback/handback.hpp"

#include <cstdio>
#include <string>

#include "data/kept.hpp"
#include "handback/outline.hpp"
#include "handback/report.hpp"

namespace door {

namespace {

// The library has made or opened a file; its code.
int make_in_library(File& file, int& ncid) {
  const int mode = file.mode & ~NC_NOCLOBBER;
  if (library().nc_create_par == nullptr) return NC_ENOPAR;
  shoal_abandon(&file.dataset);
  MPI_Barrier(file.comm);  // nobody makes it while another rank still removes
  return library().nc_create_par(file.path.c_str(), mode, file.comm, file.info, &ncid);
}

int open_in_library(File& file, int& ncid) {
  if (library().nc_open_par == nullptr) return NC_ENOPAR;
  if (file.stored) {
    shoal_abandon(&file.dataset);
    MPI_Barrier(file.comm);  // nobody opens it while another rank has it
  } else {
    const int kept = write_kept(file);
    const int code = shoal_close(&file.dataset, 0);
    if (kept != SHOAL_OK || code != SHOAL_OK)
      return report_error(file, "closing", kept != SHOAL_OK ? kept : code);
  }
  const int mode =
      (file.mode & ~(NC_NOCLOBBER | NC_NETCDF4 | NC_CLASSIC_MODEL | NC_64BIT_OFFSET | NC_64BIT_DATA)) |
      (file.writable ? NC_WRITE : 0);
  if (const int code = library().nc_open_par(file.path.c_str(), mode, file.comm, file.info, &ncid);
      code != NC_NOERR)
    return code;
  return file.defining ? library().nc_redef(ncid) : NC_NOERR;
}

int define_again(const File& file, int ncid) {
  for (const Step& step : file.steps)
    if (const int code = step.in_library(library(), ncid); code != NC_NOERR && code != NC_ERANGE) return code;
  return NC_NOERR;
}

// How variables are reached is told to the library at once, as it has them all.
void set_access(const File& file, int ncid) {
  for (std::size_t i = 0; i < file.definitions.vars.size(); ++i)
    if (file.definitions.vars[i].access == NC_COLLECTIVE && library().nc_var_par_access != nullptr)
      library().nc_var_par_access(ncid, static_cast<int>(i), NC_COLLECTIVE);
}

int go_to_library(File& file) {
  int ncid = -1;
  const int made = file.in_place ? open_in_library(file, ncid) : make_in_library(file, ncid);
  if (made != NC_NOERR) return made;
  int fill_mode = NC_FILL;
  if (file.in_place && file.fill_mode != fill_mode) library().nc_set_fill(ncid, file.fill_mode, &fill_mode);
  if (const int code = define_again(file, ncid); code != NC_NOERR) {
    library().nc_close(ncid);
    return code;
  }
  if (file.in_place && outline_of(library(), ncid) != outline_of(file)) {
    library().nc_close(ncid);
    std::fprintf(stderr, "shoal: %s cannot go to netCDF: it would number its variables in another order\n",
                 file.path.c_str());
    return NC_EINTERNAL;
  }
  set_access(file, ncid);
  file.library_id = ncid;
  return NC_NOERR;
}

}  // namespace

int hand_back(File& file, const std::string& reason) {
  if (file.is_store) {
    say_store_stays(file, reason);
    return NC_ENOTBUILT;
  }
  note_handed_back(file, reason);
  file.failure = go_to_library(file);
  file.steps.clear();
  return file.failure;
}

}  // namespace door
