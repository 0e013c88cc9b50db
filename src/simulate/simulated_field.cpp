// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/simulated_field.hpp"

#include <algorithm>

#include "rearrange/alignment.hpp"
#include "rearrange/io_ranks.hpp"

namespace shoal {

namespace {

/// Is a dimension cut: has any rank less than all of it?
CutDims cut_of_tiles(const SimulatedField& field) {
  Dims cut(field.global.size());
  for (int r = 0; r < field.ranks; ++r) {
    const Box tile = field.tile(r);
    for (int d = 0; d < cut.size() && !tile.empty(); ++d)
      if (tile.count[d] < field.global[d]) cut[d] = 1;
  }
  return cut_dims_of(cut);
}

Dims middle(const Dims& dims, int first, int end) {
  return Dims(std::span(dims.begin() + first, static_cast<std::size_t>(end - first)));
}

}  // namespace

std::vector<int> SimulatedField::first_of_nodes() const {
  std::vector<int> first;
  for (int n = 0; n <= nodes; ++n)
    first.push_back(first_of_node(n));
  return first;
}

MappedField::MappedField(const SimulatedField& field) : field_(field) {
  const int n = field.global.size();
  if (field.is_map())
    cut_ = {field.outer_dims, n - field.uncut_dims - 1};
  else
    cut_ = cut_of_tiles(field);
  shape_ = {middle(field.global, cut_.first, cut_.last + 1), n - 1 - cut_.last};
}

std::vector<std::int64_t> MappedField::cells_of(int rank) const {
  return field_.is_map() ? field_.cells(rank) : map_cells_of(field_.tile(rank), field_.global, cut_);
}

bool MappedField::may_have(int rank, const Box& box) const {
  return field_.is_map() || !intersection(field_.tile(rank), box).empty();
}

bool MappedField::may_have(int rank, std::int64_t first, std::int64_t end) const {
  if (field_.is_map()) return true;
  const Box tile = field_.tile(rank);
  if (tile.empty()) return false;
  Dims low;
  Dims high;
  for (int d = cut_.first; d <= cut_.last; ++d) {
    low.push_back(tile.first[d]);
    high.push_back(tile.end(d) - 1);
  }
  const Box all = Box::whole(shape_.mapped);
  return position_in(low, all) < end && position_in(high, all) >= first;
}

SimulatedBoxes simulated_boxes(const SimulatedField& field, const MapShape& shape,
                               const DriverOptions& options, bool flattened) {
  SimulatedBoxes boxes{Box::whole(field.global), field.chunk, {}, shape};
  Placement placement;
  placement.kind = field.chunk.empty() ? Placement::Kind::regular : Placement::Kind::listed;
  boxes.least_cells = options.rearranging.least_box_bytes / static_cast<std::int64_t>(field.size);
  if (boxes.chunk.empty()) boxes.chunk = field.global;
  const auto find_alignment = [&] {
    placement.chunk = boxes.chunk;
    boxes.alignment = alignment_of(placement, false, field.size, options.rearranging.alignment_bytes);
  };
  find_alignment();
  if (!flattened || !field.chunk.empty() || boxes.alignment.empty()) return boxes;
  const int n = shape.mapped.size();
  const int first = field.global.size() - shape.rank();
  boxes.region = shoal::flattened(boxes.region, first, n);
  boxes.chunk = boxes.region.count;
  boxes.shape.mapped = {volume(shape.mapped)};
  find_alignment();
  return boxes;
}

std::vector<int> simulated_io_ranks(const SimulatedField& field, const DriverOptions& options) {
  std::vector<int> list;
  for (int server = 0; server < options.servers.count; ++server)  // behind those that compute
    list.push_back(field.ranks + server);
  if (!list.empty()) return list;
  const int per_node = options.rearranging.io_ranks_per_node;
  if (sets_io_ranks(options.rearranging) && per_node == 0)
    return io_ranks_of(field.ranks, {options.rearranging.io_ranks, options.rearranging.io_stride,
                                     options.rearranging.io_base});
  for (int n = 0; n < field.nodes; ++n) {
    const int first = field.first_of_node(n);
    const int ranks = field.first_of_node(n + 1) - first;
    IoRanksRequest request{per_node, options.rearranging.io_stride, options.rearranging.io_base, n};
    if (per_node == 0 && !is_io_node(n, field.nodes, options.rearranging.most_io_nodes)) continue;
    if (per_node == 0) request.count = std::min(ranks, options.rearranging.most_io_ranks_of_node);
    for (const int r : io_ranks_of(ranks, request))
      list.push_back(first + r);
  }
  if (options.rearranging.io_ranks > 0 && options.rearranging.io_ranks != static_cast<int>(list.size()))
    throw Error(
        Code::setting,
        "io_ranks={} and io_ranks_per_node={} contradict each other: these are {}; leave one of the two out",
        options.rearranging.io_ranks, per_node, list.size());
  return list;
}

}  // namespace shoal
