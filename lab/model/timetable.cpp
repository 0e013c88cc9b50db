// SPDX-License-Identifier: BSD-3-Clause
#include "model/timetable.hpp"

#include <algorithm>
#include <iterator>

namespace shoal::lab {
namespace {

constexpr std::size_t k_most_intervals = 256;
constexpr Seconds k_touching = 1e-12;

}  // namespace

Timetable::Booking Timetable::book(Seconds arrival, Seconds duration) {
  Seconds at = std::max(arrival, forgotten_);
  auto next = busy_.upper_bound(at);
  if (next != busy_.begin() && std::prev(next)->second > at) at = std::prev(next)->second;
  // Idle time begins at `at`, unless the next interval begins there.
  while (next != busy_.end() && next->first <= at + k_touching)
    at = std::max(at, (next++)->second);
  const Seconds begin = at;
  Seconds left = duration;
  while (next != busy_.end() && left > next->first - at) {
    left -= next->first - at;
    at = next->second;
    ++next;
  }
  const Seconds end = at + left;
  if (duration > 0) occupy(begin, end);
  return {begin, end};
}

void Timetable::occupy(Seconds begin, Seconds end) {
  auto first = busy_.upper_bound(begin);
  if (first != busy_.begin() && std::prev(first)->second >= begin - k_touching) --first;
  auto last = first;
  for (; last != busy_.end() && last->first <= end + k_touching; ++last) {
    begin = std::min(begin, last->first);
    end = std::max(end, last->second);
  }
  busy_.erase(first, last);
  busy_.emplace(begin, end);
  if (busy_.size() <= k_most_intervals) return;
  forgotten_ = busy_.begin()->second;
  busy_.erase(busy_.begin());
}

}  // namespace shoal::lab
