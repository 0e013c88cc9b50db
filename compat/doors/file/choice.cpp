// SPDX-License-Identifier: BSD-3-Clause
#include "file/choice.hpp"

#include <bit>
#include <cstring>

#include "file/file.hpp"
#include "file/wanted.hpp"

namespace door {

namespace {

// Modes of files that Shoal has. Others are the library's, also those that a later version brings: files in
// memory, formats of the user.
constexpr int k_mpi = 0x2000;  // of older programs: NC_MPIIO, NC_PNETCDF, which mean nothing any more
constexpr int k_served = NC_WRITE | NC_NOCLOBBER | NC_SHARE | NC_LOCK | NC_NETCDF4 | NC_CLASSIC_MODEL |
                         NC_64BIT_OFFSET | NC_64BIT_DATA | k_mpi;

// The report has files that are served otherwise.
Choice left_to_library(bool wanted, const char* why_not) {
  Choice choice;
  if (wanted) choice.why_not = why_not;
  return choice;
}

}  // namespace

Choice choose(const char* path, int mode, bool makes, MPI_Comm comm) {
  if (path == nullptr) return {};
  Choice choice;
  const bool writes = makes || (mode & NC_WRITE) != 0;
  const bool wanted = is_wanted(path, writes, comm, choice.code);
  if (choice.code != NC_NOERR || (!wanted && (writes || !is_wanted(path, true, comm, choice.code))))
    return choice;
  if ((mode & ~k_served) != 0) return left_to_library(wanted, "its mode is for netCDF alone");
  if (std::strstr(path, "://") != nullptr || std::strstr(path, "#mode=") != nullptr)
    return left_to_library(wanted, "it is no file but an address");
  const int formats = mode & (NC_NETCDF4 | NC_64BIT_OFFSET | NC_64BIT_DATA);
  const bool classic_model = (mode & NC_CLASSIC_MODEL) != 0 && (formats & NC_NETCDF4) == 0;
  if (makes && (std::popcount(static_cast<unsigned>(formats)) > 1 || classic_model))
    return left_to_library(wanted, "its mode names no format");
  choice.serve = wanted;
  choice.serve_if_needed = true;
  return choice;
}

int format_of(int mode) {
  if ((mode & NC_NETCDF4) != 0)
    return (mode & NC_CLASSIC_MODEL) != 0 ? NC_FORMAT_NETCDF4_CLASSIC : NC_FORMAT_NETCDF4;
  if ((mode & NC_64BIT_DATA) != 0) return NC_FORMAT_64BIT_DATA;
  if ((mode & NC_64BIT_OFFSET) != 0) return NC_FORMAT_64BIT_OFFSET;
  int usual = NC_FORMAT_CLASSIC, again = 0;
  if (program().set_default_format != nullptr &&
      program().set_default_format(NC_FORMAT_CLASSIC, &usual) == NC_NOERR)
    program().set_default_format(usual, &again);
  return usual;
}

}  // namespace door
