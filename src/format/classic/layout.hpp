// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "format/catalog.hpp"
#include "format/flat/flat_layout.hpp"
#include "format/schema.hpp"

namespace shoal {

/// Where the variables of a classic file lie; without a fixed variable, fixed_end is where the first will be
/// put.
///
/// A file is: header, free space (options.header_reserve), fixed variables in the order of their definition,
/// free space of the same size (if there are record variables), records. A record holds one slab of every
/// record variable, in the order of definition. Slabs start at multiples of 4; fixed variables that are
/// distributed, and the first record if it holds a distributed variable, at multiples of options.alignment.
/// It depends on schema and options alone.
struct ClassicLayout : FlatLayout {
  std::int64_t header_bytes = 0;
  bool has_records = false;  ///< there are record variables

  /// Bytes of padding behind a slab.
  std::int64_t padding(const Schema& schema, int variable) const;
  /// End of the file with that many records, without the free space in front of them where there are none;
  /// Error(not_supported) if it is too large to count.
  std::int64_t end(std::int64_t records) const;
};

/// Bytes of the variable without padding, of one record if it has records.
std::int64_t slab_bytes(const Schema& schema, int variable);

/// Bytes from one record to the next. There is no padding in the special case of one record variable; like
/// the writers of most files, this counts others of no bytes as not there.
std::int64_t record_bytes_of(const Schema& schema, const std::vector<std::int64_t>& slabs);

/// The layout of a new file.
ClassicLayout new_layout(const Schema& schema, std::int64_t header_bytes, const CatalogOptions& options);

/// The layout after additions to a file whose `old` variables stay where they are: new fixed variables go
/// behind the fixed ones, in front of the records; as long as there are no records, these may begin elsewhere
/// and get more variables. Nothing: there is no place, unless the data move.
std::optional<ClassicLayout> extended_layout(const ClassicLayout& old, const Schema& schema,
                                             const CatalogOptions& options);

/// The layout found in a file.
ClassicLayout found_layout(const Schema& schema, std::vector<std::int64_t> begins, std::int64_t header_bytes);

/// Records of a file of so many bytes whose header leaves their number to its size
/// (ClassicHeader::streaming).
std::int64_t streamed_records(const Schema& schema, const ClassicLayout& layout, std::uint64_t file_bytes);

/// What a file that has `have` is to hold with these definitions, as many records as before; Errors of
/// Catalog::define. is_filled: a fill value may be in its cells, and stays what it is.
Schema extended_schema(const Schema& have, const Schema& wanted, bool is_filled, FillMode fill);

/// What the format can hold: names, types, dimensions, sizes. Errors name what is wrong and the format to
/// use. What `have` holds already is not looked at again: files of others may bend the rules for names and
/// fill values.
void check_classic(const Schema& schema, const Schema& have);
/// Offsets of cdf1 fit in 31 bits.
void check_offsets(const Schema& schema, const ClassicLayout& layout);

}  // namespace shoal
