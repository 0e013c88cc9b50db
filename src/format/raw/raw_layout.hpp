// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "format/catalog.hpp"
#include "format/flat/flat_layout.hpp"
#include "format/schema.hpp"

namespace shoal {

/// Where the variables of a raw or ascii file lie, in the order of their definition.
///
/// raw: slabs start at multiples of their elements' size, a record's length is a multiple of the largest;
/// fixed variables that are distributed, and the first record if it holds such a variable, start at multiples
/// of options.alignment. So a file with one record variable has nothing between its records.
/// ascii: everything follows without a gap.
struct RawLayout : FlatLayout {
  /// End of the file with that many records; Error(not_supported) if it is too large to count.
  std::int64_t end(std::int64_t records) const;
};

/// Bytes of an element in the file: of ascii the characters of its line, end of line included.
std::int64_t element_bytes(Format format, Type type);
/// Bytes of the variable, of one record if it has records.
std::int64_t raw_slab_bytes(const Schema& schema, int variable);

/// The layout with the variables that the schema has beyond it. Fixed variables go behind those there are, in
/// front of the records: if there are records already, Error(not_supported) says what to do. Record variables
/// may have moved afterwards, if there were no records.
RawLayout extended_raw_layout(const RawLayout& layout, const Schema& schema, std::int64_t records,
                              const CatalogOptions& options);

}  // namespace shoal
