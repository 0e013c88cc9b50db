// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "pack/stored_elements.hpp"

namespace shoal {

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

/// unfitting, of the conversion errors of copying the cells.
Status conversion_status(const Transfer& transfer, const VariableDef& variable,
                         const ConversionErrors& conversion_errors, const Box& cells, bool writing);

}  // namespace shoal
