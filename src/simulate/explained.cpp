// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/explained.hpp"

#include <algorithm>

#include "driver/native/path/direct_path.hpp"
#include "driver/rearrange_bytes.hpp"
#include "rearrange/even_partition.hpp"
#include "rearrange/io_ranks.hpp"
#include "simulate/groups.hpp"
#include "simulate/simulated_strategy.hpp"
#include "simulate/stage_use.hpp"

namespace shoal {

namespace {

class Explainer {
 public:
  explicit Explainer(const SimulationRequest& request) : request_(request), field_(request.field) {
    for (int n = 0; n < field_.nodes; ++n) {
      const int first = field_.first_of_node(n);
      out_.nodes.push_back({first, field_.first_of_node(n + 1) - first, -1, false, {}, 0});
    }
  }

  Explained run() {
    choose();
    if (out_.rearranged)
      cut_into_boxes();
    else if (request_.native)
      store_by_nodes();
    return std::move(out_);
  }

 private:
  void choose() {
    if (!request_.native) {
      out_.counts.counted = false;
      out_.setting = setting_that_rearranges(request_.options.rearranging);
      out_.rearranged = !out_.setting.empty();
      return;
    }
    const SimulatedStrategy strategy(request_, [&](int node) { return share_of_tiles(field_, node, {}); });
    out_.rearranged = strategy.rearrange();
    out_.setting = strategy.setting();
    out_.counts = strategy.counts();
    out_.cost = strategy.cost();
  }

  void cut_into_boxes() {
    const std::vector<int> ranks = simulated_io_ranks(field_, request_.options);
    const SimulatedBoxes boxes =
        simulated_boxes(field_, MappedField(field_).shape(), request_.options, request_.native);
    const EvenPartition cut(boxes.region, static_cast<int>(ranks.size()), boxes.rules());
    const auto size = static_cast<std::int64_t>(field_.size);
    std::int64_t most = 0;
    for (int box = 0; box < cut.parts(); ++box) {
      const Box cells = cut.part(box);
      const RunCount runs = runs_in_file({cells}, boxes.region, boxes.region.count, field_.size);
      out_.boxes.push_back({{ranks[static_cast<std::size_t>(box)], cells}, runs.runs});
      most = std::max(most, cells.cells() * size);
    }
    int ranks_of_node = 0;
    for (const auto& node : out_.nodes)
      ranks_of_node = std::max(ranks_of_node, node.count + request_.options.servers.count / field_.nodes);
    out_.by_nodes = field_.nodes > 1 && ranks_of_node > 1;
    if (out_.by_nodes)
      out_.window_bytes = std::min(volume(field_.global) * size, window_bytes(request_.options.stage));
    out_.most_piece_bytes =
        std::min(most, out_.by_nodes ? out_.window_bytes : rearrange_bytes(request_.options.stage) / 2);
  }

  void store_by_nodes() {
    std::int64_t least_stage = -1;
    int most_ranks = 0;
    for (int n = 0; n < field_.nodes; ++n) {
      auto& node = out_.nodes[static_cast<std::size_t>(n)];
      const NodeShare share = share_of_tiles(field_, n, {});
      node.past_stage = stores_past_stage(request_, share);
      const StageShape stage = stage_of(request_, n);
      const std::int64_t bytes = request_.options_of_node(n).stage.bytes;
      if (least_stage < 0 || bytes < least_stage || (bytes == least_stage && node.count > most_ranks)) {
        out_.stage = stage;
        least_stage = bytes;
        most_ranks = node.count;
      }
      node.past_stage ? store_past_stage(node) : store_through_stage(node, share, stage);
    }
    SlotGeneration generation;
    generation.share_evenly(out_.stage.slot_bytes, out_.stage.writers);
    out_.share_bytes = std::min(generation.share_bytes, out_.stage.slot_bytes);
  }

  void store_through_stage(Explained::Node& node, const NodeShare& share, const StageShape& stage) const {
    for_each_generation(field_, share, stage, [&](const SlotGeneration& generation) {
      node.slot_generations.push_back(generation.used);
      for_each_write(generation, [&](const Extent&) { ++node.writes; });
    });
  }

  // Values of another byte order or type, as those of most files are.
  void store_past_stage(Explained::Node& node) const {
    const auto size = static_cast<std::int64_t>(field_.size);
    const Box region = Box::whole(field_.global);
    for (int r = node.first; r < node.first + node.count; ++r)
      for_each_piece({field_.tile(r)}, field_.global, k_direct_piece / size, [&](const Piece& piece) {
        ExtentMerger merger([&](const Extent&) { ++node.writes; });
        add_extents(piece, field_.global, field_.size,
                    address_of(field_, piece.chunk_index, region, field_.global), 0, merger);
        merger.flush();
      });
  }

  const SimulationRequest& request_;
  const SimulatedField& field_;
  Explained out_;
};

}  // namespace

Explained explain(const SimulationRequest& request) {
  check_request(request);
  if (request.options.rearranging.rearranger != RearrangerKind::subset) return Explainer(request).run();
  const SimulatedGroups groups = simulated_groups(request.field, request.options);
  const SimulationRequest of_groups = as_groups(request, groups);
  Explained out = Explainer(of_groups).run();
  for (std::size_t group = 0; group < groups.io_ranks.size(); ++group)
    out.nodes[group].io_rank = groups.io_ranks[group];
  out.groups_of_node = *std::max_element(groups.groups_of_node.begin(), groups.groups_of_node.end());
  return out;
}

}  // namespace shoal
