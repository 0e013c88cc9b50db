// SPDX-License-Identifier: BSD-3-Clause
#include "comm/nodes.hpp"

namespace shoal {

namespace {
Comm node_of(const Comm& comm, int ranks_per_node) {
  Comm shared = comm.split_shared();
  return ranks_per_node > 0 ? shared.split(shared.rank() / ranks_per_node) : std::move(shared);
}
}  // namespace

Nodes::Nodes(const Comm& comm, int ranks_per_node) : node_(node_of(comm, ranks_per_node)) {
  number(comm);
}

Nodes::Nodes(const Comm& comm, const Comm& node, int color) : node_(node.split(color)) {
  number(comm);
}

// In the order of their first ranks.
void Nodes::number(const Comm& comm) {
  if (node_.size() == comm.size()) return;  // which all ranks see alike
  const auto leads = comm.all_gather(std::int64_t{node_.rank() == 0 ? 1 : 0});
  count_ = 0;
  std::int64_t number = -1;
  for (int r = 0; r < comm.size(); ++r) {
    if (leads[static_cast<std::size_t>(r)] == 0) continue;
    if (r == comm.rank()) number = count_;
    ++count_;
  }
  index_ = static_cast<int>(node_.max(number));
}

}  // namespace shoal
