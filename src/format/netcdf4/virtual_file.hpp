// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "format/netcdf4/file_image.hpp"
#include "format/netcdf4/hdf5.hpp"

namespace shoal::netcdf4 {

/// HDF5's virtual file driver over a FileImage: it locks nothing, and lets HDF5 neither sieve nor gather,
/// which the image does better. A file access property list with it; the image must outlive every file opened
/// with the list.
Id access_through(FileImage& image);

}  // namespace shoal::netcdf4
