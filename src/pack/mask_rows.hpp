// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "decomp/cell_mask.hpp"

namespace shoal {

/// Calls visit(index of its first cell, cell of the mask) for each row of so many cells. first: where they
/// begin in the mask, in the last dimensions.
template <class Visit>
void for_each_row(const CellMask& mask, const Dims& first, const Dims& count, Visit&& visit) {
  const int last = count.size() - 1;
  const int unmasked = count.size() - mask.shape().size();
  const Dims in_mask = row_major_strides(mask.shape());
  std::int64_t cell = position_in(first, Box::whole(mask.shape()));
  Dims index(count.size());
  while (true) {
    visit(index, cell);
    int d = last - 1;
    for (; d >= 0; --d) {
      const std::int64_t step = d < unmasked ? 0 : in_mask[d - unmasked];
      cell += step;
      if (++index[d] < count[d]) break;
      cell -= count[d] * step;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

template <class Byte>
Byte* at_index(Byte* at, const Dims& strides, const Dims& index) {
  for (int d = 0; d < index.size(); ++d)
    at += index[d] * strides[d];
  return at;
}

}  // namespace shoal
