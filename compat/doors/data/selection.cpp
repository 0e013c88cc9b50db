// SPDX-License-Identifier: BSD-3-Clause
#include "data/selection.hpp"

#include <algorithm>
#include <limits>

namespace door {

namespace {

constexpr std::size_t k_most = std::numeric_limits<std::int64_t>::max();

struct Range {
  std::size_t start, count, stride;
};

// One dimension of a selection; `nothing`: some count is 0, so that no cell is outside.
int check(const Range& range, std::size_t length, bool nothing) {
  if (range.start > length || (range.start == length && range.count > 0)) return NC_EINVALCOORDS;
  if (nothing || range.count == 0) return NC_NOERR;
  // The last index is start + stride * (count - 1), which a negative count in size_t would overflow.
  return range.count - 1 > (length - 1 - range.start) / range.stride ? NC_EEDGE : NC_NOERR;
}

// What is not given goes to the end of the dimension.
std::size_t count_of(const Selection& selection, std::size_t i, std::size_t start, std::size_t stride,
                     std::size_t length) {
  if (selection.form == Selection::Form::one) return 1;
  if (selection.count != nullptr) return selection.count[i];
  return start < length ? (length - start + stride - 1) / stride : 0;
}

}  // namespace

int select_cells(const File& file, const Variable& var, const Selection& selection, Direction direction,
                 Box& box) {
  const std::size_t ndims = var.dims.size();
  if (ndims > 0 && selection.form != Selection::Form::whole && selection.start == nullptr)
    return NC_EINVALCOORDS;
  std::vector<Range> ranges;
  bool nothing = false;
  for (std::size_t i = 0; i < ndims; ++i) {
    if (selection.stride != nullptr && selection.stride[i] <= 0) return NC_ESTRIDE;
    const std::size_t stride =
        selection.stride != nullptr ? static_cast<std::size_t>(selection.stride[i]) : 1;
    const std::size_t start = selection.start != nullptr ? selection.start[i] : 0;
    ranges.push_back({start, count_of(selection, i, start, stride, file.length(var.dims[i])), stride});
    nothing |= ranges.back().count == 0;
  }
  for (std::size_t i = 0; i < ndims; ++i) {
    const bool grows = file.definitions.dims[static_cast<std::size_t>(var.dims[i])].unlimited;
    const bool may_grow = grows && direction == Direction::put;
    int code = check(ranges[i], may_grow ? k_most : file.length(var.dims[i]), nothing);
    if (may_grow && code == NC_NOERR && !nothing && var.access == NC_INDEPENDENT &&
        check(ranges[i], file.length(var.dims[i]), nothing) != NC_NOERR)
      code = NC_ECANTEXTEND;  // other ranks would not know
    if (code != NC_NOERR) return code;
  }
  for (const Range& range : ranges) {
    box.start.push_back(static_cast<std::int64_t>(range.start));
    box.count.push_back(static_cast<std::int64_t>(range.count));
    box.stride.push_back(static_cast<std::int64_t>(range.stride));
  }
  return NC_NOERR;
}

std::size_t cells_of(const Box& box) {
  std::size_t cells = 1;
  for (const std::int64_t count : box.count)
    cells *= static_cast<std::size_t>(count);
  return cells;
}

}  // namespace door
