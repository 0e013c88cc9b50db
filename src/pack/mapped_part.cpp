// SPDX-License-Identifier: BSD-3-Clause
#include "pack/mapped_part.hpp"

namespace shoal {

MappedRows MappedRows::of(const Box& box, const Dims& mapped_shape) {
  MappedRows rows;
  int cut = 0;
  while (cut < box.rank() - 1 && box.count[cut] == mapped_shape[cut])
    ++cut;
  rows.rows = rows.length = rows.stride = 1;
  for (int d = 0; d < box.rank(); ++d) {
    (d < cut ? rows.rows : rows.length) *= box.count[d];
    if (d >= cut) rows.stride *= mapped_shape[d];
    if (d > cut) rows.first = rows.first * mapped_shape[d] + box.first[d];
    if (d == cut) rows.first = box.first[d];
  }
  if (rows.length == rows.stride) {
    rows.length = rows.stride *= rows.rows;
    rows.rows = 1;
  }
  return rows;
}

}  // namespace shoal
