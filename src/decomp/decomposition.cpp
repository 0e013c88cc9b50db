// SPDX-License-Identifier: BSD-3-Clause
#include "decomp/decomposition.hpp"

#include <fmt/core.h>

#include <string>

#include "base/language.hpp"
#include "decomp/partition.hpp"

namespace shoal {

namespace {

void check_own(const Dims& global, const Box& tile, const Dims& halo_low, const Dims& halo_high) {
  if (global.size() < 1 || global.size() > k_most_dims)
    throw Error(Code::invalid_argument, "a decomposition has 1 to {} dimensions, not {}", k_most_dims,
                global.size());
  for (int d = 0; d < global.size(); ++d) {
    const std::string where = " in " + dimension_text(d, global.size());
    if (global[d] < 1)
      throw Error(Code::invalid_argument, "the global shape {} has no cells{}; it must be 1 or more",
                  text_of(global), where);
    if (tile.count[d] < 0)
      throw Error(Code::invalid_argument, "the tile has {} cells{}; 0 or more are allowed", tile.count[d],
                  where);
    if (halo_low[d] < 0 || halo_high[d] < 0)
      throw Error(Code::invalid_argument, "the halo is negative{}: {} before and {} after the tile", where,
                  halo_low[d], halo_high[d]);
  }
  if (!tile.empty() && !Box::whole(global).contains(tile))
    throw Error(Code::invalid_argument, "the tile {} is not inside of the global shape {} ({})",
                text_of(tile), text_of(global), box_terms());
}

void check_same(const Dims& mine, const Dims& of_root, int rank) {
  if (!(mine == of_root))
    throw Error(Code::invalid_argument,
                "rank 0 gives the global shape {}, rank {} gives {}; it must be the same on all ranks",
                text_of(of_root), rank, text_of(mine));
}

}  // namespace

std::vector<std::int64_t> numbers_of_tile(const Box& tile) {
  std::vector<std::int64_t> numbers(tile.first.begin(), tile.first.end());
  numbers.insert(numbers.end(), tile.count.begin(), tile.count.end());
  return numbers;
}

std::vector<Box> unowned_by_tiles(const Dims& global, std::vector<std::int64_t> numbers) {
  const auto dims = static_cast<std::size_t>(global.size());
  std::vector<Tile> tiles;
  tiles.reserve(numbers.size() / (2 * dims));
  for (std::size_t at = 0; at < numbers.size(); at += 2 * dims)
    tiles.push_back({{Dims(std::span(&numbers[at], dims)), Dims(std::span(&numbers[at + dims], dims))},
                     static_cast<int>(tiles.size())});
  std::vector<std::int64_t>().swap(numbers);
  Partition result = partition(global, std::move(tiles));
  if (result.overlap)
    throw Error(Code::overlap,
                "ranks {} and {} both own the cells {} ({}); give each cell to one rank, and describe cells "
                "around a tile as its halo",
                result.overlap->rank_a, result.overlap->rank_b, text_of(result.overlap->box), box_terms());
  return std::move(result.unowned);
}

std::shared_ptr<const Decomposition> Decomposition::block(const Comm& comm, const Dims& global,
                                                          const Box& tile, const Dims& halo_low,
                                                          const Dims& halo_high) {
  Dims of_root = global;
  comm.broadcast(reinterpret_cast<std::byte*>(&of_root), sizeof of_root, 0);
  comm.agree_or_throw(caught([&] {
    check_own(global, tile, halo_low, halo_high);
    check_same(global, of_root, comm.rank());
  }));

  std::shared_ptr<Decomposition> out(new Decomposition);
  out->global_ = global;
  out->tile_ = tile.empty() ? Box(Dims(global.size()), Dims(global.size())) : tile;
  out->halo_low_ = halo_low;
  out->halo_high_ = halo_high;
  out->comm_size_ = comm.size();
  out->comm_rank_ = comm.rank();

  auto tiles = comm.gather(numbers_of_tile(out->tile_), 0);
  comm.on_root([&] { out->unowned_ = unowned_by_tiles(global, std::move(tiles)); });
  out->owned_cells_ = comm.sum(out->tile_.cells());
  out->cut_ = Dims(global.size());
  for (int d = 0; d < global.size(); ++d) {
    const bool cut = !out->tile_.empty() && out->tile_.count[d] < global[d];
    out->cut_[d] = comm.max(std::int64_t{cut ? 1 : 0});
  }
  return out;
}

bool Decomposition::has_halo() const {
  for (int d = 0; d < rank(); ++d)
    if (halo_low_[d] != 0 || halo_high_[d] != 0) return true;
  return false;
}

Box Decomposition::tile_with_halo() const {
  if (tile_.empty()) return tile_;
  Box box = tile_;
  for (int d = 0; d < rank(); ++d) {
    box.first[d] -= halo_low_[d];
    box.count[d] += halo_low_[d] + halo_high_[d];
  }
  return box;
}

}  // namespace shoal
