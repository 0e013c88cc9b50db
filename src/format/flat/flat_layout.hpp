// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/numbered.hpp"

namespace shoal {

/// Where the variables of a file lie whose values are not cut into chunks: fixed variables, then records,
/// each of which holds one slab of every record variable. Bytes from the start of the file, or lengths in
/// bytes.
struct FlatLayout {
  Numbered<std::int64_t> begins;  ///< [variables] first byte; of record variables: in record 0
  Numbered<std::int64_t> slabs;   ///< [variables] bytes of data: the whole variable, or one record of it
  std::int64_t fixed_end = 0;     ///< behind the last fixed variable
  std::int64_t record_begin = 0;  ///< first byte of record 0
  std::int64_t record_bytes = 0;  ///< from one record to the next; 0 without record variables
};

/// Multiple of 4 at or behind n.
inline std::int64_t padded(std::int64_t n) {
  return (n + 3) / 4 * 4;
}

/// a + b and a * b of sizes; Error(not_supported) if the result has no place in 64 bits.
std::int64_t checked_sum(std::int64_t a, std::int64_t b);
std::int64_t checked_product(std::int64_t a, std::int64_t b);

}  // namespace shoal
