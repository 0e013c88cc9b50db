// SPDX-License-Identifier: BSD-3-Clause
#include "streams/nearest.hpp"

#include <algorithm>
#include <limits>

#include "streams/nth.hpp"

namespace shoal::streams {

namespace {

constexpr int k_axes = 3;

double square_of(const Place& a, const Place& b) {
  double sum = 0;
  for (int d = 0; d < k_axes; ++d)
    sum += (nth(a, d) - nth(b, d)) * (nth(a, d) - nth(b, d));
  return sum;
}

}  // namespace

NearestPlaces::NearestPlaces(std::vector<Entry> entries) : entries_(std::move(entries)) {
  split({0, entries_.size(), 0});
}

void NearestPlaces::split(Range range) {
  while (range.end - range.first > 1) {
    const std::size_t middle = range.first + (range.end - range.first) / 2;
    const auto at = [&](std::size_t i) { return entries_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(range.first), at(middle), at(range.end), [&](const Entry& a, const Entry& b) {
      return nth(a.place, range.axis) < nth(b.place, range.axis);
    });
    const int next = (range.axis + 1) % k_axes;
    split({range.first, middle, next});
    range = {middle + 1, range.end, next};
  }
}

double NearestPlaces::nearest(const Place& to, std::int64_t but) const {
  double best = std::numeric_limits<double>::infinity();
  find_nearest({0, entries_.size(), 0}, to, but, best);
  return best;
}

void NearestPlaces::find_nearest(Range range, const Place& to, std::int64_t but, double& best) const {
  if (range.first >= range.end) return;
  const std::size_t middle = range.first + (range.end - range.first) / 2;
  const Entry& entry = entries_[middle];
  if (entry.number != but) best = std::min(best, square_of(entry.place, to));
  const double off = nth(to, range.axis) - nth(entry.place, range.axis);
  const int next = (range.axis + 1) % k_axes;
  const Range below{range.first, middle, next}, above{middle + 1, range.end, next};
  find_nearest(off < 0 ? below : above, to, but, best);
  if (off * off <= best) find_nearest(off < 0 ? above : below, to, but, best);
}

std::vector<std::int64_t> NearestPlaces::within(const Place& of, double square) const {
  std::vector<std::int64_t> found;
  find_within({0, entries_.size(), 0}, of, square, found);
  return found;
}

void NearestPlaces::find_within(Range range, const Place& of, double square,
                                std::vector<std::int64_t>& found) const {
  if (range.first >= range.end) return;
  const std::size_t middle = range.first + (range.end - range.first) / 2;
  const Entry& entry = entries_[middle];
  if (square_of(entry.place, of) <= square) found.push_back(entry.number);
  const double off = nth(of, range.axis) - nth(entry.place, range.axis);
  const int next = (range.axis + 1) % k_axes;
  if (off <= 0 || off * off <= square) find_within({range.first, middle, next}, of, square, found);
  if (off >= 0 || off * off <= square) find_within({middle + 1, range.end, next}, of, square, found);
}

}  // namespace shoal::streams
