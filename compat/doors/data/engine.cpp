// SPDX-License-Identifier: BSD-3-Clause
#include "data/engine.hpp"

#include <algorithm>

namespace door {

namespace {

bool has_stride(const Box& box) {
  return std::any_of(box.stride.begin(), box.stride.end(), [](std::int64_t stride) { return stride != 1; });
}

}  // namespace

shoal_box as_shoal(const File& file, int varid, const Box& box) {
  const int ndims = static_cast<int>(box.count.size());
  shoal_box asked = SHOAL_BOX_INIT;
  asked.variable = file.definitions.vars[static_cast<std::size_t>(varid)].number;
  asked.ndims = ndims;
  asked.start = box.start.data();
  asked.count = box.count.data();
  if (has_stride(box)) asked.stride = box.stride.data();
  asked.array = shoal_array_of(box.values, box.type, ndims, box.count.data());
  if (!box.steps.empty()) asked.array.strides = box.steps.data();
  return asked;
}

int move_box(File& file, int varid, const Box* box, Direction direction) {
  const Variable* var = file.variable(varid);
  shoal_box asked = SHOAL_BOX_INIT;
  if (box != nullptr) asked = as_shoal(file, varid, *box);
  const int count = box == nullptr ? 0 : 1;
  const bool together = var == nullptr || file.moves_together(*var);
  file.together |= together && direction == Direction::put;
  if (together)
    return direction == Direction::put ? shoal_write_boxes(file.dataset, count, &asked)
                                       : shoal_read_boxes(file.dataset, count, &asked);
  return direction == Direction::put ? shoal_write_independent(file.dataset, count, &asked)
                                     : shoal_read_independent(file.dataset, count, &asked);
}

int code_of_move(const File& file, Direction direction, int code) {
  if (code == SHOAL_OK) return NC_NOERR;
  return report_error(file, direction == Direction::put ? "nc_put_var" : "nc_get_var", code);
}

}  // namespace door
