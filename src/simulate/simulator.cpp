// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/simulator.hpp"

#include "decomp/partition.hpp"
#include "simulate/stage_use.hpp"

namespace shoal {

// ---- Which nodes

// If all would take too long: nodes evenly over all, those of the corners among them, as many as there is
// time for.
void Simulator::choose_nodes(Seconds all) {
  if (all <= request_.budget) return;
  // Half of the time for these, the other half for what other ranks have for them.
  const auto fit = static_cast<int>(request_.budget / 2 / all * field_.nodes);
  const int nodes = std::clamp(fit, std::min(std::max(1, request_.least_nodes), field_.nodes), field_.nodes);
  if (nodes == field_.nodes) return;
  std::fill(chosen_.begin(), chosen_.end(), false);
  for (int i = 0; i < nodes; ++i) {
    const std::int64_t last = field_.nodes - 1;
    chosen_[nodes == 1 ? 0 : static_cast<int>(i * last / (nodes - 1))] = true;
  }
  chosen_.front() = chosen_.back() = true;
  for (const int rank : field_.corners)
    chosen_[node_of(rank)] = true;
}

// ---- What stays on its node

Cost Simulator::plan_block(int rank) {
  std::vector<std::int64_t> numbers;
  if (rank == 0) {
    numbers.reserve(static_cast<std::size_t>(field_.ranks) * 2 *
                    static_cast<std::size_t>(field_.global.size()));
    for (int r = 0; r < field_.ranks; ++r)
      for (const auto n : numbers_of_tile(field_.tile(r)))
        numbers.push_back(n);
  }
  const auto gathered = static_cast<std::int64_t>(numbers.capacity() * sizeof(std::int64_t));
  Cost cost;
  const ResourceProbe probe(request_.meter);
  if (rank == 0)
    unowned_ = unowned_by_tiles(field_.global, std::move(numbers));
  else
    numbers_of_tile(field_.tile(rank));
  cost.add(probe, gathered);
  cost.kept = rank == 0 ? static_cast<std::int64_t>(unowned_.capacity() * sizeof(Box)) : 0;
  return cost;
}

NodeShare Simulator::share_of(int node) {
  std::vector<Box> unowned;
  if (!unowned_of_.empty()) unowned = unowned_of_[node];
  return share_of_tiles(field_, node, std::move(unowned));
}

NodeShare Simulator::plan_share(int rank, Cost& cost) {
  const ResourceProbe probe(request_.meter);
  NodeShare share = share_of(node_of(rank));
  cost.add(probe, cost.kept + k_gathered_bytes * field_.ranks);
  cost.kept += static_cast<std::int64_t>(
      (share.store.capacity() + share.unowned.capacity() + share.owned.capacity() + share.fetch.capacity()) *
      sizeof(Box));
  return share;
}

void Simulator::store_through_stage(int node, const NodeShare& share) {
  std::int64_t load = 0;
  std::int64_t writes = 0;
  for_each_generation(field_, share, stage_of(request_, node), [&](const SlotGeneration& generation) {
    for_each_write(generation, [&](const Extent& extent) {
      load += extent.bytes;
      ++writes;
      extent_bytes_.add(extent.bytes, node);
    });
  });
  loads_.add(load, node);
  extents_.add(writes, node);
}

void Simulator::store_past_stage(int node, const NodeShare& share) {
  const int first = field_.first_of_node(node);
  const int ranks = field_.first_of_node(node + 1) - first;
  for (int r = 0; r < ranks; ++r) {
    std::vector<Box> boxes{field_.tile(first + r)};
    for (std::size_t i = static_cast<std::size_t>(r); i < share.unowned.size();
         i += static_cast<std::size_t>(ranks))
      boxes.push_back(share.unowned[i]);
    std::int64_t load = 0, writes = 0;
    for (const auto& box : boxes) {
      ExtentMerger merger([&](const Extent& extent) {
        load += extent.bytes;
        ++writes;
        extent_bytes_.add(extent.bytes, first + r);
      });
      std::int64_t at = 0;
      for_each_piece({box}, chunk_, box.cells(), [&](const Piece& piece) {
        add_extents(piece, chunk_, field_.size, address_of(field_, piece.chunk_index, region_, chunk_), at,
                    merger);
        at += piece.cells.cells() * static_cast<std::int64_t>(field_.size);
      });
      merger.flush();
    }
    loads_.add(load, first + r);
    extents_.add(writes, first + r);
  }
}

NodeShare Simulator::share_by_tiles(int node) {
  NodeShare share;
  for (int r = field_.first_of_node(node); r < field_.first_of_node(node + 1); ++r) {
    Cost cost = plan_block(r);
    share = plan_share(r, cost);
    note(r, cost);
  }
  return share;
}

NodeShare Simulator::share_by_map(int node) {
  NodeShare share;
  share.store = within_region(strategy_->boxes_of(node), region_);
  for (int r = field_.first_of_node(node); r < field_.first_of_node(node + 1); ++r) {
    Cost cost = strategy_->cost_of_rank(r);
    cost.add(strategy_->cost_of_node(node));
    note(r, cost);
  }
  return share;
}

void Simulator::store_direct() {
  if (!field_.is_map()) choose_nodes(projected(field_.ranks, [&](int rank) { share_of(node_of(rank)); }));
  bool past = true;
  for (int node = 0; node < field_.nodes; ++node) {
    if (!chosen_[node]) continue;
    const NodeShare share = field_.is_map() ? share_by_map(node) : share_by_tiles(node);
    const bool here = !field_.is_map() && stores_past_stage(request_, share);
    past = past && here;
    here ? store_past_stage(node, share) : store_through_stage(node, share);
  }
  out_.writer = past ? Writer::rank : Writer::node;
  out_.writers = past ? field_.ranks : field_.nodes;
}

// ---- All

Simulation Simulator::run() {
  const Seconds start = now();
  if (!field_.is_map()) {
    plan_block(0);
    unowned_of_ = dealt_to_nodes(unowned_, field_.nodes);
  }
  strategy_.emplace(request_, [&](int node) { return share_of(node); });
  out_.rearranged = strategy_->rearrange();
  out_.why = strategy_->why();
  if (out_.rearranged)
    rearrange();
  else
    store_direct();

  out_.plan_seconds = seconds_.figures();
  out_.plan_bytes = peaks_.figures();
  out_.kept_bytes = kept_.figures();
  out_.ranks = out_.plan_seconds.count;
  out_.loads = loads_.figures();
  out_.extents = extents_.figures();
  out_.extent_bytes = extent_bytes_.figures();
  out_.nodes = std::count(chosen_.begin(), chosen_.end(), true);
  out_.simulated = chosen_;
  const auto traffic = [&](const Numbered<Traffic>& of, auto&& is_simulated, Figures<std::int64_t>& messages,
                           Figures<std::int64_t>& bytes, auto&& name) {
    Collector<std::int64_t> m;
    Collector<std::int64_t> b;
    for (int i = 0; i < of.count(); ++i) {
      if (!is_simulated(i)) continue;
      m.add(of[i].messages, name(i));
      b.add(of[i].bytes, name(i));
    }
    messages = m.figures();
    bytes = b.figures();
  };
  const auto self = [](int i) { return i; };
  const auto node = [&](int i) { return static_cast<bool>(chosen_[i]); };
  const auto io = [&](int i) { return io_ranks_[i]; };
  traffic(
      rank_sends_, [&](int r) { return is_chosen(r); }, out_.messages, out_.bytes, self);
  traffic(node_sends_, node, out_.node_messages, out_.node_bytes, self);
  traffic(node_takes_, node, out_.node_takes_messages, out_.node_takes_bytes, self);
  traffic(
      writer_takes_, [&](int i) { return is_chosen(io(i)); }, out_.writer_messages, out_.writer_bytes, io);
  out_.seconds = now() - start;
  return std::move(out_);
}

Simulation simulate_nodes(const SimulationRequest& request) {
  return Simulator(request).run();
}

}  // namespace shoal
