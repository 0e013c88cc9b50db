// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "format/schema.hpp"
#include "storage/store.hpp"

namespace shoal {

/// The header of a classic file, as the NetCDF classic format specification and its CDF-5 extension have it.
struct ClassicHeader {
  Schema schema;                     ///< length of the record dimension: as far as the header says
  std::vector<std::int64_t> begins;  ///< [variables] first byte of each
  std::int64_t bytes = 0;            ///< length of the header
  bool streaming = false;       ///< the number of records is not given; it follows from the size of the file
  Bytes raw;                    ///< the header as it is in the file
  std::int64_t reads = 0;       ///< calls that reading it took
  std::int64_t bytes_read = 0;  ///< and bytes
};

/// Position and length of the number of records in the header, the same in all files of a format.
inline constexpr std::int64_t k_records_at = 4;
inline std::int64_t bytes_of_records(Format format) {
  return format == Format::cdf5 ? 8 : 4;
}

/// The header as bytes. slabs: bytes of each variable or of one record of it. Local.
Bytes encode_header(const Schema& schema, const std::vector<std::int64_t>& begins,
                    const std::vector<std::int64_t>& slabs);

/// Its length. Local.
std::int64_t header_bytes_of(const Schema& schema);

/// Read the header. Nothing in it is trusted: every count is held against the size of the file before memory
/// is taken for it. Error(format) names the file, the byte, what is there and what was expected. Local.
ClassicHeader decode_header(Store& store);

}  // namespace shoal
