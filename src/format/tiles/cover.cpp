// SPDX-License-Identifier: BSD-3-Clause
#include "format/tiles/cover.hpp"

#include <algorithm>

#include "base/numbered.hpp"
#include "format/placement.hpp"

namespace shoal::tiles {

namespace {

using Lines = Numbered<Numbered<std::int64_t>>;  // [dimensions]

Lines lines_of(const std::vector<Box>& boxes, const Dims& shape) {
  Lines lines(shape.size());
  for (int d = 0; d < shape.size(); ++d) {
    auto& at = lines[d];
    at = {0, shape[d]};
    for (const auto& box : boxes) {
      if (box.empty()) continue;
      at.push_back(box.first[d]);
      at.push_back(box.end(d));
    }
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
  }
  return lines;
}

std::int64_t index_of(const Numbered<std::int64_t>& lines, std::int64_t at) {
  return std::lower_bound(lines.begin(), lines.end(), at) - lines.begin();
}

}  // namespace

Cover cover_of(const std::vector<Box>& boxes, const Dims& shape, std::size_t max_gaps) {
  Cover cover;
  if (volume(shape) == 0) return cover;
  // A coarse grid whose lines are the borders of the boxes: each of its fields is in a box as a whole or not.
  const Lines lines = lines_of(boxes, shape);
  Dims fields(shape.size());
  for (int d = 0; d < shape.size(); ++d)
    fields[d] = static_cast<std::int64_t>(lines[d].size()) - 1;
  const Dims strides = row_major_strides(fields);
  Numbered<int> owner(volume(fields), -1);
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    if (boxes[b].empty()) continue;
    Box covered{Dims(shape.size()), Dims(shape.size())};
    for (int d = 0; d < shape.size(); ++d) {
      const auto& at = lines[d];
      covered.first[d] = index_of(at, boxes[b].first[d]);
      covered.count[d] = index_of(at, boxes[b].end(d)) - covered.first[d];
    }
    for_each_index(covered, [&](const Dims& index) {
      std::int64_t position = 0;
      for (int d = 0; d < index.size(); ++d)
        position += index[d] * strides[d];
      int& field = owner[position];
      if (field >= 0 && !cover.overlap) cover.overlap = {field, static_cast<int>(b)};
      field = static_cast<int>(b);
    });
  }
  std::size_t position = 0;
  for_each_index(Box::whole(fields), [&](const Dims& index) {
    if (owner[position++] >= 0) return;
    Box gap{Dims(shape.size()), Dims(shape.size())};
    for (int d = 0; d < shape.size(); ++d) {
      const auto& at = lines[d];
      gap.first[d] = at[index[d]];
      gap.count[d] = at[index[d] + 1] - at[index[d]];
    }
    cover.gap_cells += gap.cells();
    if (cover.gaps.size() < max_gaps) cover.gaps.push_back(gap);
  });
  return cover;
}

}  // namespace shoal::tiles
