// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_view.hpp"
#include "decomp/decomposition.hpp"

namespace shoal {

/// This rank's mask from the caller's array, in which 0 (false) is land. Of a block: its extents are those of
/// the tile in the last dimensions, as many as the array has, with or without the halo, which is not looked
/// at; of a map: the length of its list. On a rank without cells the array is not looked at.
/// Error(invalid_argument): other extents (with both that are possible), NaN (with its index); Error(type):
/// text. Local.
CellMask mask_of(const Decomposition& decomposition, const ArrayView& array);

}  // namespace shoal
