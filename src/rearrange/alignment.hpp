// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/placement.hpp"

namespace shoal {

/// Multiples of cells of each dimension at which boxes of a variable had best begin, so that no two writers
/// have parts of the same chunk or, where it lies in one piece, of the same `bytes` of the file (a stripe; 0:
/// of none). They are the same for all records, so there are none where records begin elsewhere in a stripe.
/// What has no place yet is taken to get one at a stripe. Empty: boxes may begin anywhere.
Dims alignment_of(const Placement& placement, bool records, std::size_t element_size, std::int64_t bytes);

/// n dimensions from `first` on as one, of all their cells. A box has these dimensions as a whole.
Dims flattened(const Dims& shape, int first, int n);
Box flattened(const Box& box, int first, int n);

}  // namespace shoal
