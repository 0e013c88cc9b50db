// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "format/netcdf4/file_image.hpp"
#include "format/netcdf4/hdf5.hpp"

namespace shoal::netcdf4 {

/// HDF5's virtual file driver over a FileImage: it locks nothing, and lets HDF5 neither sieve nor gather,
/// which the image does better. HDF5 looks at the driver once more after it has closed a file: the identifier
/// must live longer than every file opened with it.
Id register_driver();

/// A file access property list with the driver; the image must outlive every file opened with the list.
Id access_through(hid_t driver, FileImage& image);

}  // namespace shoal::netcdf4
