// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "codec/convert.hpp"
#include "format/schema.hpp"
#include "pack/transfer.hpp"

namespace shoal {

/// The elements of the caller's array.
inline Element in_memory(const Transfer& transfer) {
  return transfer.array.element();
}

/// From the caller's array to elements of the file, rounded as the variable is.
inline ConvertRun to_stored(const Transfer& transfer, const Element& stored) {
  return find_conversion(in_memory(transfer), stored).rounded(transfer.rounding.get(), stored);
}

/// The fill value of a variable as the file has it: in this machine's byte order, or in the other.
Bytes stored_fill(const VariableDef& variable, bool swapped);

/// Boxes of a decomposition within the region of a transfer: the dimensions in front of the decomposition's
/// are the region's.
std::vector<Box> within_region(const std::vector<Box>& boxes, const Box& region);

/// Are some of this rank's cells land, which must not be stored as they are in its array?
bool is_masked(const Transfer& transfer);
/// Are some cells of its array, with the halo, land, which reading leaves as they are?
bool leaves_masked(const Transfer& transfer);

/// This rank's own cells of the region, whatever the transfer says.
Box own_cells(const Transfer& transfer);

// (Of a map, conversion errors count from the start of the array, and the cells must lie without gaps.)

/// Copy this rank's share of the cells from its array to `to`, where they lie with the strides.
/// What does not fit, and what is land, becomes *substitute. Conversion errors count from the start of
/// intersection(cells, mine).
ConversionErrors pack_cells(const Transfer& transfer, const Box& cells, std::byte* to, const Dims& strides,
                            ConvertRun convert, const std::byte* substitute);

/// Copy this rank's share of the cells, which lie at `from` with the strides, into its array, but for land.
/// Conversion errors count from the start of `mine`.
ConversionErrors unpack_cells(const Transfer& transfer, const std::byte* from, const Dims& strides,
                              const Box& cells, ConvertRun convert);

/// How many of n elements of 1, 2, 4 or 8 bytes, so far apart, have the bytes of the value. Local.
std::int64_t count_equal(const std::byte* at, std::int64_t stride, std::int64_t n, const std::byte* value,
                         std::size_t size);

/// A value, of the array's type, in all cells of the caller's array that reading leaves as they are: land,
/// and holes of a map.
void fill_left(const Transfer& transfer, const std::byte* value);

/// What stands in the caller's array where a value of the file does not fit.
const std::byte* substitute_for(Type type);

/// "value 3e+40 at [3, 17, 4] does not fit ...": for the first of the conversion errors of copying the cells.
Status conversion_status(const Transfer& transfer, const VariableDef& variable,
                         const ConversionErrors& conversion_errors, const Box& cells, bool writing);

/// The same for so many of them, the first of which is at these indices of the field and of the array.
Status unfitting(const Transfer& transfer, const VariableDef& variable, std::int64_t count, Dims global,
                 const Dims& in_array, bool writing);

/// Bytes from one element to the next of cells that lie row-major.
Dims byte_strides(const Dims& shape, std::size_t element_size);

/// A failure that means bytes are missing in the file, not just that a rank gave bad values.
bool loses_bytes(const Status& status);

}  // namespace shoal
