// SPDX-License-Identifier: BSD-3-Clause
#include "driver/domains/grouping.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "base/bytes.hpp"
#include "base/numbered.hpp"
#include "comm/nodes.hpp"
#include "decomp/partition.hpp"

namespace shoal {

namespace {

// The tile of a rank in the two last dimensions, rows first.
struct TilePlace {
  std::int64_t row = -1, column = -1;  // first cells; -1: no cells
};

TilePlace place_of(const Decomposition& d) {
  const Box& tile = d.tile();
  if (tile.empty()) return {};
  const int n = tile.rank();
  return {n > 1 ? tile.first[n - 2] : 0, tile.first[n - 1]};
}

// The decomposition that says how tiles lie: one that is cut in most dimensions.
const Decomposition* widest(const Cuts& cuts) {
  const Decomposition* best = nullptr;
  int most = -1;
  for (const auto& cut : cuts) {
    if (!cut) continue;
    int n = 0;
    for (int d = 0; d < cut->rank(); ++d)
      n += cut->is_cut(d) ? 1 : 0;
    if (n > most) best = cut.get();
    most = std::max(most, n);
  }
  return best;
}

int index_in(const std::set<std::int64_t>& firsts, std::int64_t first) {
  return static_cast<int>(std::distance(firsts.begin(), firsts.find(first)));
}

// On one rank. A domain for each rank, -1 for those without cells.
std::vector<int> by_grid(const std::vector<TilePlace>& places, const LayoutOptions& layout) {
  std::set<std::int64_t> rows;
  std::set<std::int64_t> columns;
  for (const auto& p : places) {
    if (p.row < 0) continue;
    rows.insert(p.row);
    columns.insert(p.column);
  }
  const auto grid = fmt::format("{}x{}", columns.size(), rows.size());
  if (layout.nx > static_cast<std::int64_t>(columns.size()) ||
      layout.ny > static_cast<std::int64_t>(rows.size()))
    throw Error(
        Code::setting,
        "io_layout {}x{} has more domains than there are tiles, which lie as {} (fastest dimension first)",
        layout.nx, layout.ny, grid);
  std::map<std::pair<int, int>, int> seen;
  std::vector<int> domains;
  for (std::size_t r = 0; r < places.size(); ++r) {
    const auto& p = places[r];
    if (p.row < 0) {
      domains.push_back(-1);
      continue;
    }
    const int row = index_in(rows, p.row);
    const int column = index_in(columns, p.column);
    const auto [other, fresh] = seen.emplace(std::pair(row, column), static_cast<int>(r));
    if (!fresh)
      throw Error(Code::setting,
                  "io_layout needs tiles that lie as a grid; ranks {} and {} begin at the same row and "
                  "column. Use layout=process or layout=one",
                  other->second, r);
    const auto y = static_cast<int>(row * layout.ny / static_cast<std::int64_t>(rows.size()));
    const auto x = static_cast<int>(column * layout.nx / static_cast<std::int64_t>(columns.size()));
    domains.push_back(y * layout.nx + x);
  }
  return domains;
}

// Numbers without gaps, in the same order; ranks without a domain join the first.
std::vector<int> renumbered(std::vector<int> domains) {
  std::set<int> used(domains.begin(), domains.end());
  used.erase(-1);
  for (auto& d : domains)
    d = d < 0 ? 0 : static_cast<int>(std::distance(used.begin(), used.find(d)));
  return domains;
}

}  // namespace

Grouping group_ranks(const Comm& comm, const LayoutOptions& layout, const Cuts& cuts) {
  std::vector<int> request(1, comm.rank());
  bool has_cells = false;
  for (const auto& cut : cuts)
    has_cells = has_cells || (cut && !cut->tile().empty());
  if (layout.kind == LayoutOptions::Kind::node) request[0] = Nodes(comm, layout.ranks_per_node).index();
  if (!has_cells) request[0] = -1;
  const Decomposition* main = widest(cuts);
  const TilePlace place = main != nullptr ? place_of(*main) : TilePlace{};
  ByteWriter out;
  out.put(request[0]);
  out.put(place.row);
  out.put(place.column);
  const auto parts = comm.gather(out.take(), 0);
  const Bytes answer = comm.from_root([&] {
    std::vector<int> requests;
    std::vector<TilePlace> places;
    for (const auto& part : parts) {
      ByteReader in(part);
      requests.push_back(in.get<int>());
      TilePlace p;
      in.get(p.row);
      in.get(p.column);
      places.push_back(p);
    }
    if (layout.kind == LayoutOptions::Kind::domains) requests = by_grid(places, layout);
    ByteWriter reply;
    reply.put(renumbered(std::move(requests)));
    return reply.take();
  });
  std::vector<int> domains;
  ByteReader(answer).get(domains);
  return {domains[static_cast<std::size_t>(comm.rank())],
          domains.empty() ? 1 : *std::max_element(domains.begin(), domains.end()) + 1};
}

Box box_of_domain(const Comm& comm, const Comm& domain, int number, const Decomposition& decomposition) {
  // Greatest ends, and greatest of the negative firsts.
  const int n = decomposition.rank();
  const Box& tile = decomposition.tile();
  constexpr std::int64_t k_none = std::numeric_limits<std::int64_t>::min() / 2;
  Numbered<std::int64_t> bounds(2 * n, k_none);
  if (!tile.empty())
    for (int d = 0; d < n; ++d) {
      bounds[d] = tile.end(d);
      bounds[n + d] = -tile.first[d];
    }
  bounds = domain.max(std::move(bounds));
  Box box{Dims(n), Dims(n)};
  if (bounds[0] != k_none)
    for (int d = 0; d < n; ++d) {
      box.first[d] = -bounds[n + d];
      box.count[d] = bounds[d] - box.first[d];
    }
  ByteWriter out;
  out.put(number);
  out.put(domain.rank() == 0 ? box : no_cells(n));
  const auto parts = comm.gather(out.take(), 0);
  comm.on_root([&] {
    std::vector<Tile> tiles;
    for (const auto& part : parts) {
      ByteReader in(part);
      Tile t;
      in.get(t.rank);
      in.get(t.box);
      tiles.push_back(t);
    }
    const auto overlap = partition(decomposition.global(), std::move(tiles)).overlap;
    if (overlap)
      throw Error(Code::setting,
                  "the tiles of domains {} and {} do not lie in boxes of their own: both need {}; use "
                  "layout=process, or place ranks so that the tiles of a domain form a box",
                  overlap->rank_a, overlap->rank_b, text_of(overlap->box));
  });
  return box;
}

}  // namespace shoal
