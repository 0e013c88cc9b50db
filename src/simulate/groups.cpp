// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/groups.hpp"

#include <algorithm>
#include <set>

#include "driver/io_ranks.hpp"
#include "driver/native/shapes.hpp"
#include "simulate/simulation.hpp"

namespace shoal {

SimulatedGroups simulated_groups(const SimulatedField& field, const DriverOptions& options) {
  std::vector<int> chosen;
  if (options.io_ranks > 0) {
    chosen = simulated_io_ranks(field, options);
  } else {
    DriverOptions each = options;
    if (!sets_io_ranks(options)) each.io_ranks_per_node = 1;
    for (int n = 0; n < field.nodes; ++n) {
      const int first = field.first_of_node(n);
      for (const int r : io_ranks_of(field.first_of_node(n + 1) - first,
                                     {each.io_ranks_per_node, each.io_stride, each.io_base, n}))
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
      throw Error(Code::setting, "rearranger=subset, but node " + std::to_string(n) +
                                     " has no I/O rank, and cells do not go from node to node; set "
                                     "io_ranks_per_node, or rearranger=box");
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

namespace {

/// What NativeDriver::check_rearranger refuses.
void check_subset(const SimulationWish& wish) {
  if (!wish.native)
    throw Error(Code::setting,
                "rearranger=subset is for driver native; others hand on the boxes of I/O ranks");
  if (wish.options.rearrange == Rearrange::on)
    throw Error(Code::setting,
                "rearranger=subset and rearrange=on contradict each other; leave one of them out");
  if (wish.options.writers > 1)
    throw Error(Code::setting, "rearranger=subset and writers=" + std::to_string(wish.options.writers) +
                                   " contradict each other, as one rank of each group stores");
}

/// As NativeDriver::make_groups: what follows knows of nodes alone.
SimulationWish of_groups(const SimulationWish& wish, const SimulatedGroups& groups) {
  SimulationWish out = wish;
  out.field = groups.field;
  DriverOptions& options = out.options;
  options.io_ranks = options.io_stride = options.io_base = options.io_ranks_per_node = 0;
  options.rearrange = Rearrange::off;
  options.writers = 1;
  for (const int n : groups.groups_of_node)
    out.stage_bytes.push_back(std::max(k_least_slots * k_least_slot, options.stage_bytes / n));
  return out;
}

}  // namespace

Simulation simulate(const SimulationWish& wish) {
  if (wish.options.rearranger != RearrangerKind::subset) {
    const SimulatedField& field = wish.field;
    if (wish.native) require_writers(wish.options.writers, (field.ranks + field.nodes - 1) / field.nodes);
    return simulate_nodes(wish);
  }
  check_subset(wish);
  const SimulatedGroups groups = simulated_groups(wish.field, wish.options);
  Simulation out = simulate_nodes(of_groups(wish, groups));
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
