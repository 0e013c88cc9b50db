// SPDX-License-Identifier: BSD-3-Clause
#include "rearrange/even_partition.hpp"

#include <algorithm>

namespace shoal {

namespace {

// Multiples of step that the cells touch.
std::int64_t units_of(std::int64_t first, std::int64_t count, std::int64_t step) {
  return count == 0 ? 0 : (first + count - 1) / step - first / step + 1;
}

}  // namespace

EvenPartition::EvenPartition(const Box& region, int parts, const PartRules& rules)
    : region_(region), parts_(parts), used_(parts) {
  if (rules.least_cells > 0)
    used_ = static_cast<int>(std::clamp<std::int64_t>(region.cells() / rules.least_cells, 1, parts));
  const Dims& align = rules.align;
  const auto find = [&](bool aligned) {
    for (int d = 0; d < region.rank(); ++d) {
      const std::int64_t step = aligned && align[d] > 1 ? align[d] : 1;
      if (units_of(region.first[d], region.count[d], step) < used_) continue;
      dim_ = d;
      step_ = step;
      return true;
    }
    return false;
  };
  if (!align.empty() && find(true)) return;
  if (find(false)) return;
  for (int d = 1; d < region.rank(); ++d)
    if (region.count[d] > region.count[dim_]) dim_ = d;
}

std::int64_t EvenPartition::units() const {
  return units_of(region_.first[dim_], region_.count[dim_], step_);
}

int EvenPartition::part_with(std::int64_t index) const {
  if (region_.rank() == 0) return 0;
  const std::int64_t unit = index / step_ - region_.first[dim_] / step_;
  const std::int64_t each = units() / used_;
  const std::int64_t more = units() % used_;
  const std::int64_t in_larger = more * (each + 1);
  return number_of(static_cast<int>(unit < in_larger ? unit / (each + 1) : more + (unit - in_larger) / each));
}

// The first and the last may be clipped by the region; those before `more` are one step larger.
std::vector<int> EvenPartition::distinct_sizes() const {
  if (region_.rank() == 0) return {0};
  const auto more = static_cast<int>(units() % used_);
  std::vector<int> parts{0, 1, more - 1, more, used_ - 2, used_ - 1};
  std::erase_if(parts, [&](int i) { return i < 0 || i >= used_; });
  for (int& part : parts)
    part = number_of(part);
  if (used_ < parts_) parts.push_back(parts_ - 1);
  return parts;
}

Box EvenPartition::part(int i) const {
  if (region_.rank() == 0) return region_;
  // The first used one from number i on, which is its own or that of a part behind it.
  const auto used = static_cast<int>((std::int64_t{i} * used_ + parts_ - 1) / parts_);
  const bool has_cells = used < used_ && number_of(used) == i;
  const std::int64_t low = region_.first[dim_];
  const std::int64_t end = region_.end(dim_);
  const std::int64_t units = this->units();
  const std::int64_t each = units / used_;
  const std::int64_t more = units % used_;
  const std::int64_t first_unit = low / step_;
  const auto boundary = [&](std::int64_t part) {
    const std::int64_t unit = part * each + std::min(part, more);
    if (unit == 0) return low;
    return unit == units ? end : (first_unit + unit) * step_;
  };
  Box out = region_;
  out.first[dim_] = boundary(used);
  out.count[dim_] = has_cells ? boundary(used + 1) - out.first[dim_] : 0;
  return out;
}

Pieces::Pieces(const Box& box, std::int64_t max_cells) : box_(box) {
  if (box.empty()) return;
  count_ = 1;
  if (box.rank() == 0) return;
  std::int64_t inner = box.cells();  // cells for each index of the dimensions so far
  for (dim_ = 0;; ++dim_) {
    inner /= box.count[dim_];
    if (inner <= max_cells || dim_ == box.rank() - 1) break;
    count_ *= box.count[dim_];
  }
  step_ = std::min(box.count[dim_], std::max<std::int64_t>(1, max_cells / inner));
  count_ *= (box.count[dim_] + step_ - 1) / step_;
}

Box Pieces::piece(std::int64_t i) const {
  if (i >= count_) return {Dims(box_.rank()), Dims(box_.rank())};
  Box out = box_;
  if (out.rank() == 0) return out;
  const std::int64_t steps = (box_.count[dim_] + step_ - 1) / step_;
  out.first[dim_] += i % steps * step_;
  out.count[dim_] = std::min(step_, box_.end(dim_) - out.first[dim_]);
  i /= steps;
  for (int d = dim_ - 1; d >= 0; --d) {
    out.first[d] += i % box_.count[d];
    out.count[d] = 1;
    i /= box_.count[d];
  }
  return out;
}

}  // namespace shoal
