// SPDX-License-Identifier: BSD-3-Clause
#include "data/selection.hpp"

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

// What the call gives of dimension i; a count that it does not give goes to the end of the dimension.
int range_of(const File& file, const Variable& var, const Selection& selection, std::size_t i, Range& range) {
  if (selection.stride != nullptr && selection.stride[i] <= 0) return NC_ESTRIDE;
  range.stride = selection.stride != nullptr ? static_cast<std::size_t>(selection.stride[i]) : 1;
  range.start = selection.start != nullptr ? selection.start[i] : 0;
  range.count = selection.count != nullptr ? selection.count[i] : 1;
  if (selection.count != nullptr || selection.form == Selection::Form::one) return NC_NOERR;
  const std::size_t length = file.length(var.dims[i]);
  range.count = range.start < length ? (length - range.start + range.stride - 1) / range.stride : 0;
  return NC_NOERR;
}

// Only ranks together make a dimension of netCDF-4 longer: a rank alone has NC_ECANTEXTEND.
int check_range(const File& file, const Variable& var, int dimid, const Range& range, bool nothing,
                Direction direction) {
  if (direction == Direction::get || !file.definitions.dims[static_cast<std::size_t>(dimid)].unlimited)
    return check(range, file.length(dimid), nothing);
  if (const int code = check(range, k_most, nothing); code != NC_NOERR || nothing) return code;
  if (var.access == NC_COLLECTIVE || file.grows_alone()) return NC_NOERR;
  return check(range, file.length(dimid), nothing) == NC_NOERR ? NC_NOERR : NC_ECANTEXTEND;
}

}  // namespace

int select_cells(const File& file, const Variable& var, const Selection& selection, Direction direction,
                 Box& box) {
  const std::size_t ndims = var.dims.size();
  if (ndims > 0 && selection.form != Selection::Form::whole && selection.start == nullptr)
    return NC_EINVALCOORDS;
  std::vector<Range> ranges(ndims);
  bool nothing = false;
  for (std::size_t i = 0; i < ndims; ++i) {
    if (const int code = range_of(file, var, selection, i, ranges[i]); code != NC_NOERR) return code;
    nothing |= ranges[i].count == 0;
  }
  for (std::size_t i = 0; i < ndims; ++i)
    if (const int code = check_range(file, var, var.dims[i], ranges[i], nothing, direction); code != NC_NOERR)
      return code;
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
