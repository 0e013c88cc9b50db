// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal::streams {

using Place = std::array<double, 3>;

/// Places in space, each with a number, of which the nearest ones are found (a k-d tree). Local.
class NearestPlaces {
 public:
  struct Entry {
    Place place;
    std::int64_t number;
  };
  explicit NearestPlaces(std::vector<Entry> entries);
  bool empty() const { return entries_.empty(); }
  /// The square of the distance to the nearest one whose number is not `but`; infinite: there is none.
  double nearest(const Place& to, std::int64_t but = -1) const;
  /// Those at most so far away, in no order.
  std::vector<std::int64_t> within(const Place& of, double square) const;

 private:
  struct Range {
    std::size_t first, end;
    int axis;
  };
  void split(Range range);
  void find_nearest(Range range, const Place& to, std::int64_t but, double& best) const;
  void find_within(Range range, const Place& of, double square, std::vector<std::int64_t>& found) const;

  std::vector<Entry> entries_;  // the middle one of a range splits it along an axis
};

}  // namespace shoal::streams
