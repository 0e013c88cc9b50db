// SPDX-License-Identifier: BSD-3-Clause
#include "decomp/node_share.hpp"

#include <algorithm>

#include "decomp/partition.hpp"

namespace shoal {

namespace {

std::vector<Box> unpacked_boxes(const Bytes& bytes) {
  std::vector<Box> boxes;
  ByteReader(bytes).get(boxes);
  return boxes;
}

Bytes packed(const std::vector<Box>& boxes) {
  ByteWriter out;
  out.put(boxes);
  return out.take();
}

std::vector<Box> all_of(const Comm& node, const Box& mine) {
  std::vector<Box> boxes;
  for (const auto& part : node.all_gather(packed({mine})))
    for (const auto& box : unpacked_boxes(part))
      if (!box.empty()) boxes.push_back(box);
  return boxes;
}

/// Rank 0 deals the boxes nobody owns out to the nodes, in turn.
std::vector<Box> deal_unowned(const Comm& comm, const Nodes& nodes, const Decomposition& decomposition) {
  if (decomposition.owned_cells() == volume(decomposition.global())) return {};
  const auto node_of_rank = comm.all_gather(std::int64_t{nodes.index()});
  std::vector<Bytes> parts;
  if (comm.rank() == 0) {
    std::vector<std::vector<Box>> of_node(static_cast<std::size_t>(nodes.count()));
    std::size_t next = 0;
    for (const auto& box : decomposition.unowned())
      of_node[next++ % of_node.size()].push_back(box);
    for (const auto node : node_of_rank)
      parts.push_back(packed(of_node[static_cast<std::size_t>(node)]));
  }
  return unpacked_boxes(comm.scatter(parts, 0));
}

// How many cells of the box follow each other in the row-major order of all.
std::int64_t run_of(const Box& box, const Dims& global) {
  std::int64_t run = 1;
  for (int d = box.rank(); d-- > 0;) {
    run *= box.count[d];
    if (box.count[d] != global[d]) break;
  }
  return run;
}

}  // namespace

NodeShare share_of_node(const Comm& comm, const Nodes& nodes, const Decomposition& decomposition) {
  NodeShare share;
  if (decomposition.map() != nullptr) {
    // A node's cells lie anywhere.
    share.store = share.fetch = {Box::whole(decomposition.global())};
    return share;
  }
  share.unowned = deal_unowned(comm, nodes, decomposition);
  share.store = all_of(nodes.node(), decomposition.tile());
  for (const auto& tile : share.store) {
    const std::int64_t run = run_of(tile, decomposition.global());
    share.shortest_run = share.shortest_run == 0 ? run : std::min(share.shortest_run, run);
  }
  share.store.insert(share.store.end(), share.unowned.begin(), share.unowned.end());
  share.store = merged(std::move(share.store));

  share.fetch =
      all_of(nodes.node(), intersection(decomposition.tile_with_halo(), Box::whole(decomposition.global())));
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
