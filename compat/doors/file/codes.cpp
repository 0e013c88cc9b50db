// SPDX-License-Identifier: BSD-3-Clause
#include "file/codes.hpp"

#include <netcdf.h>
#include <shoal/bindings.h>

#include <cerrno>
#include <cstdio>

namespace door {

int code_of(int shoal_code) {
  switch (shoal_code) {
    case SHOAL_OK:
      return NC_NOERR;
    case SHOAL_INVALID_ARGUMENT:
    case SHOAL_NOT_SUPPORTED:
    case SHOAL_SETTING:
      return NC_EINVAL;
    case SHOAL_NOT_FOUND:
      return ENOENT;
    case SHOAL_EXISTS:
      return NC_EEXIST;
    case SHOAL_PERMISSION:
      return EACCES;
    case SHOAL_NO_SPACE:
      return ENOSPC;
    case SHOAL_IO:
      return NC_EIO;
    case SHOAL_FORMAT:
      return NC_ENOTNC;
    case SHOAL_RANGE:
      return NC_ERANGE;
    case SHOAL_TYPE:
      return NC_EBADTYPE;
    case SHOAL_NO_MEMORY:
      return NC_ENOMEM;
    case SHOAL_OUT_OF_STEP:
    case SHOAL_TIMEOUT:
    case SHOAL_MPI:
      return NC_EMPI;
    default:
      return NC_EINTERNAL;
  }
}

int report_error(MPI_Comm comm, const std::string& path, const char* call, int code) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const int failed = shoal_error_rank();
  if (rank == (failed < 0 ? 0 : failed))
    std::fprintf(stderr, "shoal: %s of %s: %s\n", call, path.c_str(), shoal_error_message());
  return code_of(code);
}

const char* name_of_format(int format) {
  switch (format) {
    case NC_FORMAT_CLASSIC:
      return "cdf1";
    case NC_FORMAT_64BIT_OFFSET:
      return "cdf2";
    case NC_FORMAT_64BIT_DATA:
      return "cdf5";
    case NC_FORMAT_NETCDF4_CLASSIC:
      return "netcdf4-classic";
    default:
      return "netcdf4";
  }
}

bool is_refusal(int code) {
  switch (code) {
    case SHOAL_INVALID_ARGUMENT:
    case SHOAL_NOT_FOUND:
    case SHOAL_EXISTS:
    case SHOAL_FORMAT:
    case SHOAL_RANGE:
    case SHOAL_TYPE:
    case SHOAL_NOT_SUPPORTED:
      return true;
    default:
      return false;
  }
}

}  // namespace door
