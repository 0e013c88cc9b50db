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

}  // namespace

Choice choose(const char* path, int mode, bool makes, MPI_Comm comm) {
  if (path == nullptr) return {};
  Choice choice;
  if (!is_wanted(path, makes || (mode & NC_WRITE) != 0, comm, choice.code)) return choice;
  if ((mode & ~k_served) != 0) return {false, "its mode is for netCDF alone", NC_NOERR};
  if (std::strstr(path, "://") != nullptr || std::strstr(path, "#mode=") != nullptr)
    return {false, "it is no file but an address", NC_NOERR};
  const int formats = mode & (NC_NETCDF4 | NC_64BIT_OFFSET | NC_64BIT_DATA);
  const bool classic_model = (mode & NC_CLASSIC_MODEL) != 0 && (formats & NC_NETCDF4) == 0;
  if (makes && (std::popcount(static_cast<unsigned>(formats)) > 1 || classic_model))
    return {false, "its mode names no format", NC_NOERR};
  return {true, "", NC_NOERR};
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
