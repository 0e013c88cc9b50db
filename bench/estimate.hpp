// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "content.hpp"

namespace shoal::bench {

/// What an estimate needs to know of a method and its format.
struct EstimatedCase {
  std::string driver;  ///< native, gather, pnetcdf, netcdf, mpiio, posix, hdf5
  std::string format;
  bool bare = false;           ///< the library alone, without Shoal
  bool nonblocking = false;    ///< fields of a record wait together
  bool several_files = false;  ///< a layout of several files, which are joined afterwards
};

struct Estimate {
  std::int64_t memory_bytes = 0;  ///< of all ranks together
  std::int64_t disk_bytes = 0;    ///< the most at one time in a directory
};

/// Of a run of these cases, one after the other: the model's arrays, those that reading fills, what methods
/// and checks need besides, and the processes themselves; files with what their formats add, and the joined
/// file beside those of a set. On the high side. Local.
Estimate estimate_of(const Content& content, const Grid& grid, const Tiling& tiling, std::int64_t records,
                     bool reading, const std::vector<EstimatedCase>& cases);

}  // namespace shoal::bench
