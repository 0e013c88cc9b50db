// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/groups.hpp"

#include <algorithm>
#include <set>

#include "driver/native/shapes.hpp"
#include "rearrange/io_ranks.hpp"
#include "rearrange/strategy.hpp"

namespace shoal {

SimulatedGroups simulated_groups(const SimulatedField& field, const DriverOptions& options) {
  std::vector<int> chosen;
  if (options.rearranging.io_ranks > 0) {
    chosen = simulated_io_ranks(field, options);
  } else {
    DriverOptions each = options;
    if (!sets_io_ranks(options.rearranging)) each.rearranging.io_ranks_per_node = 1;
    for (int n = 0; n < field.nodes; ++n) {
      const int first = field.first_of_node(n);
      for (const int r : io_ranks_of(
               field.first_of_node(n + 1) - first,
               {each.rearranging.io_ranks_per_node, each.rearranging.io_stride, each.rearranging.io_base, n}))
        chosen.push_back(first + r);
    }
  }
  SimulatedGroups out;
  out.field = field;
  out.field.firsts.clear();
  for (int n = 0; n < field.nodes; ++n) {
    const int first = field.first_of_node(n);
    const auto begin = std::lower_bound(chosen.begin(), chosen.end(), first);
    const auto end = std::lower_bound(begin, chosen.end(), field.first_of_node(n + 1));
    if (begin == end)
      throw Error(Code::setting,
                  "rearranger=subset, but node {} has no I/O rank, and cells do not go from node to node; "
                  "set io_ranks_per_node, or rearranger=box",
                  n);
    // The first group has those before its I/O rank too.
    for (auto io = begin; io != end; ++io) {
      out.field.firsts.push_back(io == begin ? first : *io);
      out.io_ranks.push_back(*io);
      out.node_of.push_back(n);
      out.groups_of_node.push_back(static_cast<int>(end - begin));
    }
  }
  out.field.nodes = static_cast<int>(out.io_ranks.size());
  out.field.firsts.push_back(field.ranks);
  return out;
}

SimulationRequest as_groups(const SimulationRequest& request, const SimulatedGroups& groups) {
  SimulationRequest out = request;
  out.field = groups.field;
  set_for_groups(out.options, 1);
  for (const int n : groups.groups_of_node) {
    DriverOptions of_node = request.options;
    set_for_groups(of_node, n);
    out.stage_bytes.push_back(of_node.stage.bytes);
  }
  return out;
}

void check_request(const SimulationRequest& request) {
  const SimulatedField& field = request.field;
  const DriverOptions& options = request.options;
  if (!request.native) {
    if (options.rearranging.rearranger == RearrangerKind::subset)
      throw Error(Code::setting,
                  "rearranger=subset is for driver native; others hand on the boxes of I/O ranks");
    return;
  }
  check_rearranging(options.rearranging, options.stage.writers.value_or(1));
  if (options.rearranging.rearranger == RearrangerKind::subset) return;
  if (!options.stage.writers) return;
  int most = 0;
  for (int n = 0; n < field.nodes; ++n)
    most = std::max(most, field.first_of_node(n + 1) - field.first_of_node(n));
  const bool serve = options.servers.count > 0;
  require_writers(*options.stage.writers, serve ? options.servers.count / field.nodes : most, serve);
}

Simulation simulate(const SimulationRequest& request) {
  check_request(request);
  if (request.options.rearranging.rearranger != RearrangerKind::subset) return simulate_nodes(request);
  const SimulatedGroups groups = simulated_groups(request.field, request.options);
  Simulation out = simulate_nodes(as_groups(request, groups));
  out.groups = out.nodes;
  out.writer = Writer::io_rank;
  for (std::size_t group = 0; group < groups.io_ranks.size(); ++group) {
    const int first = groups.field.firsts[group];
    out.served.push_back({groups.io_ranks[group], first, groups.field.firsts[group + 1] - first});
  }
  std::set<int> nodes;
  for (std::size_t group = 0; group < groups.node_of.size(); ++group)
    if (out.simulated[group]) nodes.insert(groups.node_of[group]);
  out.nodes = static_cast<std::int64_t>(nodes.size());
  for (auto* figures : {&out.loads, &out.extents, &out.extent_bytes})
    for (auto* who : {&figures->who_least, &figures->who_most})
      if (*who >= 0) *who = groups.io_ranks[static_cast<std::size_t>(*who)];
  return out;
}

}  // namespace shoal
