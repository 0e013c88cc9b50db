// SPDX-License-Identifier: BSD-3-Clause
#include "storage/remote/byte_ranges.hpp"

#include <algorithm>
#include <iterator>

namespace shoal {

void ByteRanges::add(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  auto at = ranges_.upper_bound(begin);
  if (at != ranges_.begin() && std::prev(at)->second >= begin) --at;
  while (at != ranges_.end() && at->first <= end) {
    begin = std::min(begin, at->first);
    end = std::max(end, at->second);
    at = ranges_.erase(at);
  }
  ranges_[begin] = end;
}

void ByteRanges::cut(std::uint64_t begin) {
  ranges_.erase(ranges_.lower_bound(begin), ranges_.end());
  if (!ranges_.empty()) {
    auto& end = std::prev(ranges_.end())->second;
    end = std::min(end, begin);
  }
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> ByteRanges::gaps(std::uint64_t begin,
                                                                      std::uint64_t end) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  auto at = ranges_.upper_bound(begin);
  if (at != ranges_.begin() && std::prev(at)->second > begin) --at;
  for (; begin < end && at != ranges_.end() && at->first < end; ++at) {
    if (at->first > begin) found.emplace_back(begin, at->first);
    begin = std::max(begin, at->second);
  }
  if (begin < end) found.emplace_back(begin, end);
  return found;
}

}  // namespace shoal
