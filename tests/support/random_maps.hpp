// Random maps that every rank makes alike, from a seed.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "decomp/decomposition.hpp"

namespace shoal::testing {

struct MapKind {
  int percent_unowned = 0;
  int percent_holes = 0;  ///< of local cells, beside the others
  std::int64_t runs = 1;  ///< cells are dealt out in runs of up to so many
  bool repeats = false;   ///< some cells belong to several ranks, or twice to one
};

/// Each rank's list. Some ranks own nothing.
inline std::vector<std::vector<std::int64_t>> random_maps(std::int64_t cells, int ranks, const MapKind& kind,
                                                          std::mt19937& random) {
  std::vector<std::vector<std::int64_t>> lists(static_cast<std::size_t>(ranks));
  const auto pick = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  std::vector<std::size_t> owners;
  for (std::size_t r = 0; r < lists.size(); ++r)
    if (ranks == 1 || pick(4) != 0) owners.push_back(r);
  if (owners.empty()) owners.push_back(0);
  for (std::int64_t at = 0; at < cells;) {
    const std::int64_t end = std::min(cells, at + 1 + pick(kind.runs));
    const std::size_t owner =
        owners[static_cast<std::size_t>(pick(static_cast<std::int64_t>(owners.size())))];
    const bool unowned = pick(100) < kind.percent_unowned;
    for (; at < end; ++at) {
      if (unowned) continue;
      lists[owner].push_back(at);
      if (!kind.repeats) continue;
      if (pick(5) == 0) lists[static_cast<std::size_t>(pick(ranks))].push_back(at);
      if (pick(20) == 0) lists[owner].push_back(at);
    }
  }
  for (auto& list : lists) {
    if (kind.runs == 1) std::shuffle(list.begin(), list.end(), random);
    std::vector<std::int64_t> with_holes;
    with_holes.reserve(list.size());
    for (const std::int64_t cell : list) {
      if (pick(100) < kind.percent_holes) with_holes.push_back(k_hole);
      with_holes.push_back(cell);
    }
    list = std::move(with_holes);
  }
  return lists;
}

}  // namespace shoal::testing
