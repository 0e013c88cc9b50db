// SPDX-License-Identifier: BSD-3-Clause
#include "decomp/partition.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/numbered.hpp"

namespace shoal {

namespace {

struct Cut {
  int dim = -1;
  std::int64_t at = 0;
};

/// A tile border strictly inside of the box: of all dimensions, the border that lies nearest to the middle of
/// the tiles' borders and goes through the fewest tiles.
Cut find_cut(const Box& box, const std::vector<Tile>& tiles) {
  Cut best;
  std::size_t best_cost = std::numeric_limits<std::size_t>::max();
  for (int d = 0; d < box.rank(); ++d) {
    std::vector<std::int64_t> alignment;
    for (const auto& tile : tiles) {
      if (tile.box.first[d] > box.first[d]) alignment.push_back(tile.box.first[d]);
      if (tile.box.end(d) < box.end(d)) alignment.push_back(tile.box.end(d));
    }
    if (alignment.empty()) continue;
    const auto middle = alignment.begin() + static_cast<std::ptrdiff_t>(alignment.size() / 2);
    std::nth_element(alignment.begin(), middle, alignment.end());
    std::size_t through = 0;
    std::size_t below = 0;
    for (const auto& tile : tiles) {
      if (tile.box.first[d] < *middle && tile.box.end(d) > *middle) ++through;
      if (tile.box.end(d) <= *middle) ++below;
    }
    // Tiles cut in two count double: they come back in both halves.
    const std::size_t cost = 2 * through + std::max(below, tiles.size() - below);
    if (cost < best_cost) {
      best_cost = cost;
      best = {d, *middle};
    }
  }
  return best;
}

class Partitioner {
 public:
  explicit Partitioner(bool may_overlap) : may_overlap_(may_overlap) {}

  void visit(const Box& box, std::vector<Tile> tiles) {
    if (result_.overlap) return;
    if (tiles.empty()) {
      result_.unowned.push_back(box);
      return;
    }
    const Cut cut = find_cut(box, tiles);
    if (cut.dim < 0) {  // every tile that is left fills the box
      if (tiles.size() > 1 && !may_overlap_)
        result_.overlap = {std::min(tiles[0].rank, tiles[1].rank), std::max(tiles[0].rank, tiles[1].rank),
                           box};
      return;
    }
    Box low = box;
    low.count[cut.dim] = cut.at - box.first[cut.dim];
    Box high = box;
    high.first[cut.dim] = cut.at;
    high.count[cut.dim] = box.end(cut.dim) - cut.at;
    const auto is_low = [&](const Tile& tile) { return tile.box.first[cut.dim] < cut.at; };
    const auto is_high = [&](const Tile& tile) { return tile.box.end(cut.dim) > cut.at; };
    Numbered<Tile> in_low;
    Numbered<Tile> in_high;
    // No more memory than needed: there is a tile for each rank of the job.
    in_low.reserve(std::count_if(tiles.begin(), tiles.end(), is_low));
    in_high.reserve(std::count_if(tiles.begin(), tiles.end(), is_high));
    for (const auto& tile : tiles) {
      if (is_low(tile)) in_low.push_back({intersection(tile.box, low), tile.rank});
      if (is_high(tile)) in_high.push_back({intersection(tile.box, high), tile.rank});
    }
    std::vector<Tile>().swap(tiles);
    visit(low, std::move(in_low));
    visit(high, std::move(in_high));
  }
  Partition take() { return std::move(result_); }

 private:
  bool may_overlap_;
  Partition result_;
};

/// a and b agree in all dimensions but d.
bool alike_but(const Box& a, const Box& b, int d) {
  for (int i = 0; i < a.rank(); ++i)
    if (i != d && (a.first[i] != b.first[i] || a.count[i] != b.count[i])) return false;
  return true;
}

std::vector<Box> merged_along(std::vector<Box> boxes, int d) {
  std::sort(boxes.begin(), boxes.end(), [d](const Box& a, const Box& b) {
    for (int i = 0; i < a.rank(); ++i) {
      if (i == d) continue;
      if (a.first[i] != b.first[i]) return a.first[i] < b.first[i];
      if (a.count[i] != b.count[i]) return a.count[i] < b.count[i];
    }
    return a.first[d] < b.first[d];
  });
  std::vector<Box> out;
  for (const auto& box : boxes) {
    if (!out.empty() && alike_but(out.back(), box, d) && out.back().end(d) == box.first[d])
      out.back().count[d] += box.count[d];
    else
      out.push_back(box);
  }
  return out;
}

}  // namespace

Partition partition(const Dims& global, std::vector<Tile> tiles) {
  std::erase_if(tiles, [](const Tile& tile) { return tile.box.empty(); });
  Partitioner partitioner(false);
  partitioner.visit(Box::whole(global), std::move(tiles));
  Partition result = partitioner.take();
  result.unowned = merged(std::move(result.unowned));
  return result;
}

std::vector<Box> remainder(const Box& whole, const std::vector<Box>& boxes) {
  std::vector<Tile> tiles;
  for (const auto& box : boxes) {
    const Box part = intersection(box, whole);
    if (!part.empty()) tiles.push_back({part, 0});
  }
  Partitioner partitioner(true);
  partitioner.visit(whole, std::move(tiles));
  return merged(partitioner.take().unowned);
}

std::vector<Box> merged(std::vector<Box> boxes) {
  std::erase_if(boxes, [](const Box& box) { return box.empty(); });
  if (boxes.empty()) return boxes;
  Box all = boxes.front();
  std::int64_t cells = 0;
  for (const auto& box : boxes) {
    all = bounding(all, box);
    cells += box.cells();
  }
  if (all.cells() == cells) return {all};
  // Fastest dimension first: long rows are what makes writes large.
  for (std::size_t before = boxes.size() + 1; boxes.size() < before;) {
    before = boxes.size();
    for (int d = all.rank() - 1; d >= 0; --d)
      boxes = merged_along(std::move(boxes), d);
  }
  std::sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) {
    return std::lexicographical_compare(a.first.begin(), a.first.end(), b.first.begin(), b.first.end());
  });
  return boxes;
}

}  // namespace shoal
