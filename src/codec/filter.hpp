// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace shoal {

/// A step that the bytes of a chunk go through on their way to a file: a filter of HDF5, a codec of Zarr.
struct Filter {
  enum : int {
    deflate = 1,  ///< HDF5's registered numbers; deflate is numcodecs' zlib
    shuffle = 2,
    fletcher32 = 3,
    zstd = 32015,
    gzip = 0x10000,  ///< Zarr's, outside of the numbers that HDF5 can have
    lz4,             ///< numcodecs': the length in front of the block; HDF5's 32004 is framed otherwise
    blosc,           ///< a buffer of c-blosc 1; HDF5's 32001 is framed otherwise
    crc32c,          ///< 4 bytes behind the others, little endian
  };
  int id = 0;
  int level = 0;    ///< deflate: 1 to 12; zstd: 1 to 22; gzip, blosc: 0 to 9
  int variant = 0;  ///< blosc: compressor and shuffle (codec/blosc.hpp)

  friend bool operator==(const Filter&, const Filter&) = default;
};

/// In the order of writing; reading goes back.
using Filters = std::vector<Filter>;

}  // namespace shoal
