// SPDX-License-Identifier: BSD-3-Clause
#include "model/interval_set.hpp"

#include <algorithm>
#include <iterator>

namespace shoal::lab {

// The first extent that ends behind `begin`.
std::map<std::int64_t, std::int64_t>::const_iterator IntervalSet::first_touched(std::int64_t begin) const {
  auto found = extents_.upper_bound(begin);
  if (found != extents_.begin() && std::prev(found)->second > begin) --found;
  return found;
}

void IntervalSet::add(Extent extent) {
  if (extent.empty()) return;
  auto at = first_touched(extent.begin);
  if (at != extents_.begin() && std::prev(at)->second == extent.begin) --at;
  while (at != extents_.end() && at->first <= extent.end) {
    extent.begin = std::min(extent.begin, at->first);
    extent.end = std::max(extent.end, at->second);
    bytes_ -= at->second - at->first;
    at = extents_.erase(at);
  }
  extents_.emplace(extent.begin, extent.end);
  bytes_ += extent.bytes();
}

void IntervalSet::remove(Extent extent) {
  if (extent.empty()) return;
  auto at = first_touched(extent.begin);
  while (at != extents_.end() && at->first < extent.end) {
    const Extent old{at->first, at->second};
    at = extents_.erase(at);
    bytes_ -= old.bytes();
    for (const Extent rest : {Extent{old.begin, extent.begin}, Extent{extent.end, old.end}}) {
      if (rest.empty()) continue;
      at = std::next(extents_.emplace(rest.begin, rest.end).first);
      bytes_ += rest.bytes();
    }
  }
}

void IntervalSet::clear() {
  extents_.clear();
  bytes_ = 0;
}

bool IntervalSet::covers(Extent extent) const {
  if (extent.empty()) return true;
  const auto at = first_touched(extent.begin);
  return at != extents_.end() && at->first <= extent.begin && at->second >= extent.end;
}

std::vector<Extent> IntervalSet::touched(Extent extent) const {
  std::vector<Extent> out;
  if (extent.empty()) return out;
  for (auto at = first_touched(extent.begin); at != extents_.end() && at->first < extent.end; ++at)
    out.push_back({at->first, at->second});
  return out;
}

std::vector<Extent> IntervalSet::parts(Extent extent) const {
  std::vector<Extent> out = touched(extent);
  for (Extent& part : out)
    part = {std::max(part.begin, extent.begin), std::min(part.end, extent.end)};
  return out;
}

std::vector<Extent> IntervalSet::gaps(Extent extent) const {
  std::vector<Extent> out;
  std::int64_t at = extent.begin;
  for (const Extent& part : parts(extent)) {
    if (part.begin > at) out.push_back({at, part.begin});
    at = part.end;
  }
  if (at < extent.end) out.push_back({at, extent.end});
  return out;
}

std::vector<Extent> IntervalSet::all() const {
  std::vector<Extent> out;
  for (const auto& [begin, end] : extents_)
    out.push_back({begin, end});
  return out;
}

std::optional<std::int64_t> IntervalSet::last_end(std::int64_t at) const {
  auto found = first_touched(at);
  if (found == extents_.begin()) return std::nullopt;
  return std::prev(found)->second;
}

std::optional<std::int64_t> IntervalSet::next_begin(std::int64_t at) const {
  const auto found = extents_.lower_bound(at);
  if (found == extents_.end()) return std::nullopt;
  return found->first;
}

}  // namespace shoal::lab
