// SPDX-License-Identifier: BSD-3-Clause
#include "grids/cubed_sphere.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace shoal::grids {

namespace {

constexpr std::int64_t k_of_element = 9, k_faces = 6;

// How far along the Hilbert curve of a square of 2^k points a side (x, y) is.
std::int64_t along_curve(std::int64_t side, std::int64_t x, std::int64_t y) {
  std::int64_t distance = 0;
  for (std::int64_t half = side / 2; half > 0; half /= 2) {
    const bool right = (x & half) != 0, upper = (y & half) != 0;
    distance += half * half * (right ? (upper ? 2 : 3) : (upper ? 1 : 0));
    if (upper) continue;
    // The lower quarters are turned, the right one the other way round.
    if (right) {
      x = half - 1 - (x & (half - 1));
      y = half - 1 - (y & (half - 1));
    }
    std::swap(x, y);
  }
  return distance;
}

// Elements in the order of the curve, those of a square that is not as long as a power of two, too: what is
// not there is left out.
std::vector<std::int64_t> elements_along_curve(std::int64_t elements) {
  std::int64_t edge = 1, side = 1;
  while (k_faces * edge * edge < elements)
    ++edge;
  while (side < edge)
    side *= 2;
  std::vector<std::pair<std::int64_t, std::int64_t>> order;
  for (std::int64_t e = 0; e < elements; ++e) {
    const auto face = e / (edge * edge), place = e % (edge * edge);
    order.emplace_back(face * side * side + along_curve(side, place % edge, place / edge), e);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::int64_t> sorted;
  for (const auto& [distance, e] : order)
    sorted.push_back(e);
  return sorted;
}

}  // namespace

// The poles, so to say: 6 * 9 * ne^2 + 2 columns are no more elements than 6 * ne^2.
SphereCurve::SphereCurve(std::int64_t columns)
    : columns_(columns), order_(elements_along_curve(std::max<std::int64_t>(1, columns / k_of_element))) {}

Columns SphereCurve::columns_of(int rank, int ranks) const {
  const auto n = static_cast<std::int64_t>(order_.size());
  std::vector<std::int64_t> mine(order_.begin() + n * rank / ranks, order_.begin() + n * (rank + 1) / ranks);
  std::sort(mine.begin(), mine.end());
  Columns list;
  for (const auto e : mine) {
    const auto end = e + 1 == n ? columns_ : (e + 1) * k_of_element;
    for (auto c = e * k_of_element; c < end; ++c)
      list.push_back(c);
  }
  return list;
}

std::shared_ptr<const Columns> sphere_columns(std::int64_t columns, int rank, int ranks) {
  // All fields of a rank share one list.
  static std::map<std::array<std::int64_t, 3>, std::weak_ptr<const Columns>> known;
  auto& place = known[{columns, rank, ranks}];
  auto list = place.lock();
  if (!list) {
    list = std::make_shared<const Columns>(SphereCurve(columns).columns_of(rank, ranks));
    place = list;
  }
  return list;
}

}  // namespace shoal::grids
