// SPDX-License-Identifier: BSD-3-Clause
#include "rearrange/io_ranks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

namespace shoal {

namespace {

std::string ranks_text(const IoRanksRequest& request, int ranks) {
  const std::string n = std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
  if (request.node >= 0) return fmt::format("node {} has {}", request.node, n);
  return (ranks == 1 ? "there is " : "there are ") + n;
}

// Ranks of each node; the request is about one.
std::vector<int> choose_in_nodes(const Comm& comm, const Nodes& nodes, const IoRanksRequest& request,
                                 int most_nodes = 0) {
  bool chosen = false;
  comm.agree_or_throw(caught([&] {
    if (!is_io_node(nodes.index(), nodes.count(), most_nodes)) return;
    const auto of_node = io_ranks_of(nodes.node().size(), request);
    chosen = std::find(of_node.begin(), of_node.end(), nodes.node().rank()) != of_node.end();
  }));
  const auto all = comm.all_gather(std::int64_t{chosen ? 1 : 0});
  std::vector<int> list;
  for (int r = 0; r < comm.size(); ++r)
    if (all[r] != 0) list.push_back(r);
  return list;
}

}  // namespace

std::vector<int> io_ranks_of(int ranks, const IoRanksRequest& request) {
  const std::string setting = request.node >= 0 ? "io_ranks_per_node" : "io_ranks";
  const std::string there = ranks_text(request, ranks);
  if (request.base >= ranks)
    throw Error(Code::setting, "setting io_base is {}, but {}; io_base can be 0 to {}", request.base, there,
                ranks - 1);
  int count = request.count;
  int stride = request.stride;
  const int available = ranks - request.base;
  const std::string from = request.base > 0 ? fmt::format(" from rank {} on", request.base) : "";
  if (count > available)
    throw Error(Code::setting, "setting {} is {}, but {}{}; {} can be 1 to {}", setting, count, there,
                request.base > 0 ? fmt::format(", {} of them{}", available, from) : "", setting, available);
  if (count == 0) count = stride == 0 ? available : (available - 1) / stride + 1;
  if (stride == 0) stride = available / count;
  if ((count - 1) > (available - 1) / stride)
    throw Error(Code::setting,
                "{}={} with io_stride={}{} needs more ranks than there are ({}); {} can be 1 to {}, or "
                "io_stride 1 to {}",
                setting, count, stride, from, there, setting, (available - 1) / stride + 1,
                (available - 1) / (count - 1));
  std::vector<int> list;
  for (int i = 0; i < count; ++i)
    list.push_back(request.base + i * stride);
  return list;
}

bool is_io_node(int node, int nodes, int most) {
  if (most == 0 || most >= nodes) return true;
  const std::int64_t number = (std::int64_t{node} * most + nodes - 1) / nodes;
  return number < most && number * nodes / most == node;
}

std::vector<int> choose_io_ranks(const Comm& comm, const RearrangeOptions& options) {
  const int per_node = options.io_ranks_per_node;
  if (sets_io_ranks(options) && per_node == 0)
    return io_ranks_of(comm.size(), {options.io_ranks, options.io_stride, options.io_base});
  const Nodes nodes(comm, options.ranks_per_node);
  if (per_node == 0)
    return choose_in_nodes(
        comm, nodes, {std::min(nodes.node().size(), options.most_io_ranks_of_node), 0, 0, nodes.index()},
        options.most_io_nodes);
  auto list = choose_in_nodes(comm, nodes, {per_node, options.io_stride, options.io_base, nodes.index()});
  const auto all = static_cast<int>(list.size());
  if (options.io_ranks > 0 && options.io_ranks != all)
    throw Error(Code::setting,
                "io_ranks={} and io_ranks_per_node={} contradict each other: {} on each of {} nodes are {}; "
                "leave one of the two out",
                options.io_ranks, per_node, per_node, nodes.count(), all);
  return list;
}

IoGroups choose_io_groups(const Comm& comm, const Nodes& nodes, const RearrangeOptions& options) {
  // Unless their number is for all nodes, they are counted within each, so that none is without.
  const int of_each = sets_io_ranks(options) ? options.io_ranks_per_node : 1;
  const auto io_ranks =
      options.io_ranks > 0
          ? choose_io_ranks(comm, options)
          : choose_in_nodes(comm, nodes, {of_each, options.io_stride, options.io_base, nodes.index()});
  const Comm& node = nodes.node();
  const auto mine = node.all_gather(std::int64_t{comm.rank()});
  IoGroups out;
  out.of_node = 0;
  int group = 0;
  std::int64_t leader = -1;
  for (const auto rank : mine) {
    if (!std::binary_search(io_ranks.begin(), io_ranks.end(), static_cast<int>(rank))) continue;
    if (rank <= comm.rank()) group = out.of_node;
    if (rank <= comm.rank() || leader < 0) leader = rank;
    ++out.of_node;
  }
  comm.agree_or_throw(caught([&] {
    if (out.of_node == 0)
      throw Error(Code::setting,
                  "rearranger=subset, but node {} has no I/O rank, and cells do not go from node to node; "
                  "set io_ranks_per_node, or rearranger=box",
                  nodes.index());
  }));
  out.groups = std::make_unique<Nodes>(comm, node, group);
  const auto of_group = out.groups->node().all_gather(std::int64_t{comm.rank()});
  out.io_rank = static_cast<int>(std::find(of_group.begin(), of_group.end(), leader) - of_group.begin());
  return out;
}

void check_io_ranks(const Comm& comm, const RearrangeOptions& options) {
  if (sets_io_ranks(options)) choose_io_ranks(comm, options);
}

}  // namespace shoal
