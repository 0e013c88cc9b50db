// SPDX-License-Identifier: BSD-3-Clause
#include "machine/usual_figures.hpp"

namespace shoal {

namespace {

constexpr double k_node_rate = 2e9;  // of the cache of one client, bytes a second
constexpr Seconds k_turn = 1e-3;     // a lock is called back, dirty pages under it are sent, a page is read
constexpr std::int64_t k_mib = std::int64_t{1} << 20;

// How Lustre says "all targets"; how many these are is not known here.
constexpr std::int64_t k_all_targets = 65535;

// Turns of this size lose nothing worth the name: what one node sends in 8 turns' time.
constexpr std::int64_t k_harmless = 16 * k_mib;

void add_turns(FileSystemFigures& f) {
  for (const std::int64_t bytes : {k_mib / 16, k_mib, k_harmless}) {
    f.by_size.add(bytes, k_node_rate);
    const auto size = static_cast<double>(bytes);
    f.in_turns.add(bytes, bytes == k_harmless ? k_node_rate : size / (size / k_node_rate + k_turn));
  }
}

// One target takes about what one client sends; more clients than targets call back each other's locks. 0: as
// many as there are.
void add_nodes(FileSystemFigures& f, std::int64_t useful_nodes) {
  constexpr std::int64_t k_many = 1024;
  const std::int64_t most = useful_nodes > 0 ? useful_nodes : k_many;
  const auto add = [&](std::int64_t nodes, std::int64_t as) {
    f.by_nodes.add(nodes, k_node_rate * static_cast<double>(as));
  };
  for (std::int64_t nodes = 1; nodes < most; nodes *= 2)
    add(nodes, nodes);
  add(most, most);
  if (useful_nodes > 0) add(2 * most, most);
}

}  // namespace

std::optional<MachineFigures> usual_figures(const std::string& kind, std::int64_t stripe_count) {
  const bool lustre = kind == "lustre";
  if (!lustre && kind != "gpfs") return std::nullopt;
  if (stripe_count >= k_all_targets) stripe_count = 0;
  MachineFigures figures;
  figures.node.copy_bytes_per_second = 4e9;
  figures.node.message_bytes_per_second = 4e9;
  figures.node.message_seconds = 1e-5;
  figures.file_system.kind = kind;
  if (lustre) figures.file_system.stripe_count = stripe_count;
  add_turns(figures.file_system);
  add_nodes(figures.file_system, lustre ? stripe_count : 0);
  return figures;
}

}  // namespace shoal
