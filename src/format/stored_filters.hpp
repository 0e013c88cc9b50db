// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "codec/filters.hpp"

namespace shoal {

// FormatTraits::filters of the formats that have chunks. Error(not_supported) names what there is instead.

/// netCDF-4 files: as asked for, where HDF5 has them all.
Filters as_netcdf4_has_them(const Filters& asked);

/// Zarr of version 3, whose codecs are gzip, zstd, blosc and crc32c. It shuffles within blosc alone, and what
/// programs of netCDF-4 ask for has the same meaning: "shuffle+zstd:1" is blosc with zstd,
/// "shuffle+deflate:1" blosc with zlib, "deflate:1" gzip, "lz4" blosc with lz4, fletcher32 crc32c. zstd and
/// deflate have a checksum of the values, which blosc has not, so crc32c is behind the blosc that stands for
/// them. What asks for blosc itself is taken as it is. Error(not_supported) also: the build lacks what would
/// be stored.
Filters as_zarr_has_them(const Filters& asked);

/// What comes nearest to codecs of Zarr in netCDF-4: "blosc:zstd:5" is "shuffle+zstd:9", gzip deflate, crc32c
/// fletcher32. Others stay as they are.
Filters nearest_in_netcdf4(const Filters& filters);

}  // namespace shoal
