// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "base/bytes.hpp"
#include "codec/convert.hpp"
#include "format/schema.hpp"
#include "pack/mapped_part.hpp"
#include "pack/transfer.hpp"

namespace shoal {

/// This rank's cells of the part one after another: [outer, cells in order of position, inner]. pack: from
/// its array; unpack: to it, but for land. Conversion errors count from the start of the array, row-major.
ConversionErrors pack_mapped(const Transfer& transfer, const MappedPart& part, const Element& message,
                             std::byte* to, const std::byte* substitute);
ConversionErrors unpack_mapped(const Transfer& transfer, const MappedPart& part, const Element& message,
                               const std::byte* from);

/// This rank's cells among those of a box of the field, which lies row-major at to (from). convert: between
/// the array's elements and those, of so many bytes. Conversion errors as above.
ConversionErrors pack_map_cells(const Transfer& transfer, const Box& cells, std::byte* to, std::size_t size,
                                ConvertRun convert, const std::byte* substitute);
ConversionErrors unpack_map_cells(const Transfer& transfer, const Box& cells, const std::byte* from,
                                  std::size_t size, ConvertRun convert);
/// fill_left (cells.hpp) of a field that is cut by a map.
void fill_left_of_map(const Transfer& transfer, const std::byte* value);
/// The value in these cells of the list, at all indices of other dimensions.
void fill_list_cells(const Transfer& transfer, const std::vector<std::int64_t>& cells,
                     const std::byte* value);
/// A fill value in those of the box that the map has.
void fill_map_cells(const Decomposition& decomposition, const IndexMap& map, const Box& cells, std::byte* to,
                    const Bytes& fill);

/// As conversion_status, for the conversion errors of these functions.
Status mapped_conversion_status(const Transfer& transfer, const VariableDef& variable,
                                const ConversionErrors& conversion_errors, bool writing);

}  // namespace shoal
