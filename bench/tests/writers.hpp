// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "content.hpp"

// Datasets written with nothing of Shoal's, for tests of the benchmark's checks.
namespace shoal::bench {

/// Cells of a dimension that one file of a set has.
struct Slice {
  std::int64_t first = 0, count = 0;
};
/// By dimension; those without an entry are whole.
using Slices = std::map<std::string, Slice>;

/// One file with the content's values, cut as slices say. A coordinate variable with domain_decomposition is
/// made for each sliced dimension, or gets the attribute if the content has it.
void write_netcdf(const std::string& path, const std::string& format, const Content& content,
                  std::int64_t records, const Slices& slices = {});
/// The same as raw (either byte order) or ascii, with its header file.
void write_raw(const std::string& path, bool text, bool big_endian, const Content& content,
               std::int64_t records, const Slices& slices = {});

}  // namespace shoal::bench
