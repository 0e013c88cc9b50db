// SPDX-License-Identifier: BSD-3-Clause
#include "machine/default_figures.hpp"

#include <algorithm>
#include <iterator>

namespace shoal {

namespace {

constexpr double k_node_rate = 2e9;  // of the cache of one client, bytes a second
constexpr std::int64_t k_mib = std::int64_t{1} << 20;

struct Defaults {
  const char* kind;
  Seconds turn;           // what a node loses that writes next to what another one wrote
  std::int64_t harmless;  // turns of this size lose nothing worth the name, or less than one node alone would
};
constexpr Defaults k_defaults[] = {
    {"lustre", 2e-3, 16 * k_mib},  // a lock is called back, dirty pages under it are sent, a page is read
    {"gpfs", 2e-3, 16 * k_mib},
    {"beegfs", 1e-3, 4 * k_mib},  // no locks, but a request to a server, whose disks seek
    {k_unknown_kind, 1e-3, 4 * k_mib},
};

// How Lustre says "all targets"; how many these are is not known here.
constexpr std::int64_t k_all_targets = 65535;

void add_turns(FileSystemFigures& f, const Defaults& defaults) {
  for (const std::int64_t bytes : {k_mib / 16, k_mib, defaults.harmless}) {
    f.by_size.add(bytes, k_node_rate);
    const auto size = static_cast<double>(bytes);
    f.in_turns.add(bytes,
                   bytes == defaults.harmless ? k_node_rate : size / (size / k_node_rate + defaults.turn));
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

std::optional<MachineFigures> default_figures(const std::string& type, std::int64_t stripe_count,
                                              bool known) {
  const std::string kind = known ? type : k_unknown_kind;
  const auto* const defaults = std::find_if(std::begin(k_defaults), std::end(k_defaults),
                                            [&](const Defaults& d) { return kind == d.kind; });
  if (defaults == std::end(k_defaults)) return std::nullopt;
  const bool lustre = kind == "lustre";
  if (stripe_count >= k_all_targets) stripe_count = 0;
  MachineFigures figures;
  figures.node.copy_bytes_per_second = 4e9;
  figures.node.message_bytes_per_second = 4e9;
  figures.node.message_seconds = 1e-5;
  figures.file_system.kind = kind;
  figures.file_system.open_seconds = 1e-3;  // some requests to a server of metadata
  if (lustre) figures.file_system.stripe_count = stripe_count;
  add_turns(figures.file_system, *defaults);
  add_nodes(figures.file_system, lustre ? stripe_count : 0);
  return figures;
}

void complete_with_defaults(MachineFigures& measured, const std::optional<MachineFigures>& defaults) {
  if (!defaults || know_nodes(measured)) return;
  FileSystemFigures& f = measured.file_system;
  const double one_node = std::max(f.by_size.best(), f.by_writers.at_number(1));
  const double share = one_node > 0 ? one_node / k_node_rate : 1;
  const auto take = [share](RateTable& to, const RateTable& from) {
    to = from;
    for (double& rate : to.bytes_per_second)
      rate *= share;
  };
  if (f.by_nodes.at.size() < 2) take(f.by_nodes, defaults->file_system.by_nodes);
  if (f.by_size.empty()) take(f.by_size, defaults->file_system.by_size);
  if (f.in_turns.empty()) take(f.in_turns, defaults->file_system.in_turns);
  NodeFigures& node = measured.node;
  if (node.message_bytes_per_second <= 0) {
    node.message_bytes_per_second = defaults->node.message_bytes_per_second;
    node.message_seconds = defaults->node.message_seconds;
  }
  if (node.copy_bytes_per_second <= 0) node.copy_bytes_per_second = defaults->node.copy_bytes_per_second;
  measured.default_turns = true;
}

}  // namespace shoal
