// SPDX-License-Identifier: BSD-3-Clause
#include "machine/figures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace shoal {

namespace {

// A rate that is so near another one is as good.
constexpr double k_as_good = 0.9;

}  // namespace

double RateTable::at_number(double number) const {
  if (at.empty()) return 0;
  const auto above =
      std::find_if(at.begin(), at.end(), [&](std::int64_t n) { return static_cast<double>(n) >= number; });
  if (above == at.begin()) return bytes_per_second.front();
  if (above == at.end()) return bytes_per_second.back();
  const auto i = static_cast<std::size_t>(above - at.begin());
  const double low = std::log(static_cast<double>(at[i - 1]));
  const double share = (std::log(number) - low) / (std::log(static_cast<double>(at[i])) - low);
  return bytes_per_second[i - 1] + share * (bytes_per_second[i] - bytes_per_second[i - 1]);
}

double RateTable::at_size(double bytes) const {
  if (at.empty()) return 0;
  const auto first = static_cast<double>(at.front());
  return bytes < first ? bytes_per_second.front() * bytes / first : at_number(bytes);
}

double RateTable::best() const {
  return at.empty() ? 0 : *std::max_element(bytes_per_second.begin(), bytes_per_second.end());
}

std::int64_t RateTable::first_with(double share_of_best) const {
  for (std::size_t i = 0; i < at.size(); ++i)
    if (bytes_per_second[i] >= share_of_best * best()) return at[i];
  return 0;
}

std::string text_of(const MachineFigures& figures) {
  const FileSystemFigures& where = figures.file_system;
  if (!figures.measured()) {
    const std::int64_t n = where.stripe_count;
    return fmt::format("default figures of {}{}",
                       where.kind == k_unknown_kind ? "a file system that is not known" : where.kind,
                       n > 0 ? fmt::format(" with {} stripe{}", n, n == 1 ? "" : "s") : "");
  }
  return fmt::format("{}, {} ({}, measured {}{})", figures.path, where.mount_point, where.kind,
                     where.measured,
                     figures.default_turns ? "; default figures of nodes that take turns" : "");
}

Seconds store_seconds(const MachineFigures& figures, const StoreUse& use) {
  const FileSystemFigures& f = figures.file_system;
  const double one = f.by_writers.at_number(1);
  double rate = f.by_nodes.empty() ? one : f.by_nodes.at_number(use.nodes);
  if (one > 0) rate *= f.by_writers.at_number(use.writers_of_node) / one;
  const double usual = f.by_size.at_size(k_tune_bytes);
  if (usual > 0) rate *= f.by_size.at_size(use.write_bytes) / usual;
  const double apart = f.by_size.at_size(use.turn_bytes);
  if (use.turn_bytes > 0 && use.nodes > 1 && apart > 0 && !f.in_turns.empty())
    rate *= std::min(1.0, f.in_turns.at_size(use.turn_bytes) / apart);
  return rate > 0 ? use.bytes / rate : 0;
}

bool know_nodes(const MachineFigures& figures) {
  const FileSystemFigures& f = figures.file_system;
  return !f.in_turns.empty() && !f.by_size.empty() && f.by_nodes.at.size() > 1 &&
         figures.node.message_bytes_per_second > 0 && figures.node.copy_bytes_per_second > 0;
}

Seconds message_seconds(const MachineFigures& figures, double bytes, double nodes, double io_nodes,
                        double messages_of_node) {
  const double of_io_node = bytes / io_nodes;
  const double taken = of_io_node * (nodes - 1) / nodes;
  return (bytes / nodes + of_io_node) / figures.node.copy_bytes_per_second +
         taken / figures.node.message_bytes_per_second + messages_of_node * figures.node.message_seconds;
}

std::int64_t harmless_turn(const FileSystemFigures& figures) {
  const RateTable& turns = figures.in_turns;
  for (std::size_t i = 0; i < turns.at.size(); ++i)
    if (turns.bytes_per_second[i] >= k_as_good * figures.by_size.at_size(static_cast<double>(turns.at[i])))
      return turns.at[i];
  return 0;
}

}  // namespace shoal
