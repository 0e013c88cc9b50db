// SPDX-License-Identifier: BSD-3-Clause
// The definitions of a file that Shoal has opened.
#ifndef SHOAL_DOORS_FILE_SCHEMA_HPP
#define SHOAL_DOORS_FILE_SCHEMA_HPP

#include "file/file.hpp"

namespace door {

// False: it has something that Shoal does not move by boxes, or that netCDF would tell in another way. Local.
bool read_schema(File& file);

}  // namespace door

#endif
