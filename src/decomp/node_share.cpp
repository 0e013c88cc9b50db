// SPDX-License-Identifier: BSD-3-Clause
#include "decomp/node_share.hpp"

#include <algorithm>

#include "base/field_bytes.hpp"
#include "base/numbered.hpp"
#include "decomp/partition.hpp"

namespace shoal {

namespace {

std::vector<Box> unpacked_boxes(const Bytes& bytes) {
  std::vector<Box> boxes;
  get_values(bytes, boxes);
  return boxes;
}

std::vector<Box> all_of(const Comm& node, const Box& mine) {
  std::vector<Box> boxes;
  for (const auto& part : node.all_gather(bytes_of_values(std::vector{mine})))
    for (const auto& box : unpacked_boxes(part))
      if (!box.empty()) boxes.push_back(box);
  return boxes;
}

/// Rank 0 deals the boxes nobody owns out to the nodes, and sends them to the first rank of each.
std::vector<Box> deal_unowned(const Comm& comm, const Nodes& nodes, const Decomposition& decomposition) {
  if (decomposition.owned_cells() == volume(decomposition.global())) return {};
  const auto node_of_rank = comm.all_gather(std::int64_t{nodes.index()});
  std::vector<Bytes> parts;
  if (comm.rank() == 0) {
    const Numbered<std::vector<Box>> of_node = dealt_to_nodes(decomposition.unowned(), nodes.count());
    Numbered<bool> sent(of_node.size());
    for (const auto node : node_of_rank) {
      parts.push_back(sent[node] ? Bytes() : bytes_of_values(of_node[node]));
      sent[node] = true;
    }
  }
  Bytes mine = comm.scatter(parts, 0);
  nodes.node().broadcast(mine, 0);
  return unpacked_boxes(mine);
}

}  // namespace

std::int64_t run_of(const Box& box, const Dims& whole) {
  std::int64_t run = 1;
  for (int d = box.rank(); d-- > 0;) {
    run *= box.count[d];
    if (box.count[d] != whole[d]) break;
  }
  return run;
}

std::vector<std::vector<Box>> dealt_to_nodes(const std::vector<Box>& unowned, int nodes) {
  Numbered<std::vector<Box>> of_node(nodes);
  std::size_t next = 0;
  for (const auto& box : unowned)
    of_node[next++ % of_node.size()].push_back(box);
  return of_node;
}

NodeShare share_of_node(const Comm& comm, const Nodes& nodes, const Decomposition& decomposition) {
  NodeShare share;
  if (decomposition.map() != nullptr) {
    // A node's cells lie anywhere.
    share.store = share.fetch = {Box::whole(decomposition.global())};
    return share;
  }
  const Box whole = Box::whole(decomposition.global());
  auto unowned = deal_unowned(comm, nodes, decomposition);
  auto tiles = all_of(nodes.node(), decomposition.tile());
  auto with_halos = all_of(nodes.node(), intersection(decomposition.tile_with_halo(), whole));
  return share_of_tiles(decomposition.global(), std::move(tiles), std::move(with_halos), std::move(unowned));
}

NodeShare share_of_tiles(const Dims& global, std::vector<Box> tiles, std::vector<Box> with_halos,
                         std::vector<Box> unowned) {
  NodeShare share;
  for (const auto& tile : tiles) {
    if (tile.empty()) continue;
    const std::int64_t run = run_of(tile, global);
    share.shortest_run = share.shortest_run == 0 ? run : std::min(share.shortest_run, run);
  }
  if (!unowned.empty()) share.owned = merged(tiles);
  share.store = std::move(tiles);
  share.store.insert(share.store.end(), unowned.begin(), unowned.end());
  share.store = merged(std::move(share.store));
  for (const auto& box : share.store) {
    share.runs += box.cells() / run_of(box, global);
    share.cells += box.cells();
  }
  share.unowned = std::move(unowned);

  share.fetch = std::move(with_halos);
  Box around;
  std::int64_t cells = 0;
  for (const auto& box : share.fetch) {
    around = cells == 0 ? box : bounding(around, box);
    cells += box.cells();
  }
  // One box around all is read in long rows; not worth it when much of it is of no use to this node.
  if (cells > 0 && around.cells() <= cells + cells / 2) share.fetch = {around};
  return share;
}

}  // namespace shoal
