// SPDX-License-Identifier: BSD-3-Clause
// The definitions of a file that Shoal has opened.
#ifndef SHOAL_DOORS_FILE_SCHEMA_HPP
#define SHOAL_DOORS_FILE_SCHEMA_HPP

#include <shoal/bindings.h>

#include "file/definitions.hpp"

namespace door {

// Also the format, NC_FORMAT_... False: it has something that Shoal does not move by boxes, or that netCDF
// would tell in another way. Local.
bool read_schema(shoal_dataset* dataset, Definitions& definitions, int& format);

}  // namespace door

#endif
