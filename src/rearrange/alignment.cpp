// SPDX-License-Identifier: BSD-3-Clause
#include "rearrange/alignment.hpp"

#include <limits>
#include <numeric>

namespace shoal {

Dims alignment_of(const Placement& placement, bool records, std::size_t element_size, std::int64_t bytes) {
  if (placement.kind == Placement::Kind::listed) return placement.chunk;
  if (placement.kind != Placement::Kind::regular || bytes <= 0) return {};
  const auto is_aligned = [&](std::uint64_t at) { return at % static_cast<std::uint64_t>(bytes) == 0; };
  if (placement.begin != k_unplaced && !is_aligned(placement.begin)) return {};
  if (records && !is_aligned(placement.stride)) return {};
  const Dims& shape = placement.chunk;
  const int n = shape.size();
  Dims steps(n, 1);
  Dims inner(n);  // bytes of one index
  auto all = static_cast<std::int64_t>(element_size);
  for (int d = n - 1; d >= 0; --d) {
    inner[d] = all;
    all *= shape[d];
  }
  bool alike = true;  // does each index of the dimensions so far begin at a border?
  for (int d = records ? 1 : 0; d < n; ++d) {
    steps[d] = alike ? bytes / std::gcd(inner[d], bytes) : std::numeric_limits<std::int64_t>::max();
    alike = alike && (shape[d] == 1 || inner[d] % bytes == 0);
  }
  return steps;
}

Dims flattened(const Dims& shape, int first, int n) {
  Dims out;
  std::int64_t row = 1;
  for (int d = 0; d < shape.size(); ++d) {
    if (d < first || d >= first + n) {
      out.push_back(shape[d]);
      continue;
    }
    row *= shape[d];
    if (d == first + n - 1) out.push_back(row);
  }
  return out;
}

Box flattened(const Box& box, int first, int n) {
  Dims low = flattened(box.first, first, n);
  low[first] = 0;
  return {low, flattened(box.count, first, n)};
}

}  // namespace shoal
