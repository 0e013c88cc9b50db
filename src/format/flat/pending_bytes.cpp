// SPDX-License-Identifier: BSD-3-Clause
#include "format/flat/pending_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace shoal {

namespace {

// Larger ranges are not appended to, nor copied together for a write: that would cost more than a write.
constexpr std::size_t k_large = std::size_t{1} << 20;

}  // namespace

void PendingBytes::put(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto next = ranges_.upper_bound(offset);
    std::size_t n = bytes.size();
    if (next != ranges_.end()) n = std::min<std::uint64_t>(n, next->first - offset);
    const auto before = next == ranges_.begin() ? ranges_.end() : std::prev(next);
    const std::uint64_t end = before == ranges_.end() ? 0 : before->first + before->second.size();
    if (before != ranges_.end() && end > offset) {
      n = std::min<std::uint64_t>(bytes.size(), end - offset);
      std::memcpy(before->second.data() + (offset - before->first), bytes.data(), n);
    } else if (before != ranges_.end() && end == offset && before->second.size() + n <= k_large) {
      before->second.insert(before->second.end(), bytes.begin(),
                            bytes.begin() + static_cast<std::ptrdiff_t>(n));
      size_ += n;
    } else {
      ranges_.emplace_hint(next, offset,
                           Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)));
      size_ += n;
    }
    offset += n;
    bytes = bytes.subspan(n);
  }
}

void PendingBytes::drop(std::uint64_t offset, std::size_t n) {
  const std::uint64_t end = offset + n;
  auto range = ranges_.upper_bound(offset);
  if (range != ranges_.begin()) --range;
  while (range != ranges_.end() && range->first < end) {
    const std::uint64_t first = range->first;
    const std::uint64_t last = first + range->second.size();
    if (last <= offset || n == 0) {
      ++range;
      continue;
    }
    if (last > end)
      ranges_.emplace(
          end, Bytes(range->second.end() - static_cast<std::ptrdiff_t>(last - end), range->second.end()));
    size_ -= std::min(last, end) - std::max(first, offset);
    if (first < offset) {
      range->second.resize(offset - first);
      ++range;
    } else {
      range = ranges_.erase(range);
    }
  }
}

bool PendingBytes::covers(std::uint64_t offset, std::size_t n) const {
  const std::uint64_t end = offset + n;
  while (offset < end) {
    auto range = ranges_.upper_bound(offset);
    if (range == ranges_.begin()) return false;
    --range;
    const std::uint64_t range_end = range->first + range->second.size();
    if (range_end <= offset) return false;
    offset = range_end;
  }
  return true;
}

void PendingBytes::overlay(std::uint64_t offset, std::span<std::byte> bytes) const {
  const std::uint64_t end = offset + bytes.size();
  auto range = ranges_.upper_bound(offset);
  if (range != ranges_.begin()) --range;
  for (; range != ranges_.end() && range->first < end; ++range) {
    const std::uint64_t from = std::max(offset, range->first);
    const std::uint64_t to = std::min<std::uint64_t>(end, range->first + range->second.size());
    if (from < to)
      std::memcpy(bytes.data() + (from - offset), range->second.data() + (from - range->first), to - from);
  }
}

void PendingBytes::flush(const Write& write, const Choice& chosen) {
  for (auto first = ranges_.begin(); first != ranges_.end();) {
    if (!chosen(first->first, first->second.size())) {
      ++first;
      continue;
    }
    std::uint64_t end = first->first + first->second.size();
    auto last = std::next(first);
    while (last != ranges_.end() && last->first == end &&
           end - first->first + last->second.size() <= k_large && chosen(last->first, last->second.size())) {
      end += last->second.size();
      ++last;
    }
    if (std::next(first) == last) {
      write(first->first, first->second);
    } else {
      Bytes together;
      together.reserve(end - first->first);
      for (auto range = first; range != last; ++range)
        together.insert(together.end(), range->second.begin(), range->second.end());
      write(first->first, together);
    }
    size_ -= end - first->first;
    first = ranges_.erase(first, last);
  }
}

}  // namespace shoal
