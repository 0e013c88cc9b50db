// SPDX-License-Identifier: BSD-3-Clause
#ifdef SHOAL_HAVE_NETCDF
#include "driver/library/netcdf_errors.hpp"

#include <netcdf.h>

namespace shoal {

Code code_of_netcdf(int status) {
  if (status > 0) return code_of_errno(status);
  switch (status) {
    case NC_EEXIST:
      return Code::exists;
    case NC_EPERM:
      return Code::permission;
    case NC_ENOMEM:
      return Code::no_memory;
    case NC_ENOTNC:
    case NC_ENOTNC4:
    case NC_ETRUNC:
      return Code::format;
    case NC_ENOTVAR:
    case NC_EBADDIM:
    case NC_EINVALCOORDS:
    case NC_EEDGE:
      return Code::not_found;
    case NC_ERANGE:
      return Code::range;
    case NC_EVARSIZE:
    case NC_EDIMSIZE:
    case NC_EBADCHUNK:
    case NC_ENOTBUILT:
    case NC_ESTRICTNC3:
    case NC_EMAXDIMS:
      return Code::not_supported;
    case NC_ELATEFILL:
    case NC_ELATEDEF:
      return Code::state;
    default:
      return Code::io;
  }
}

bool is_failed_write(int status) {
  switch (status) {
    case NC_EHDFERR:
    case NC_ECANTWRITE:
    case NC_EIO:
    case NC_EFILEMETA:
    case NC_EDIMMETA:
    case NC_EATTMETA:
    case NC_EVARMETA:
      return true;
    default:
      return status > 0;
  }
}

}  // namespace shoal
#endif
