// SPDX-License-Identifier: BSD-3-Clause
#include "tune/advise.hpp"

#include <fmt/core.h>

#include "base/text.hpp"
#include "machine/default_figures.hpp"
#include "rearrange/storing_choice.hpp"
#include "storage/file_system.hpp"

namespace shoal {

namespace {

std::string rate_text(double rate) {
  return bytes_text(rate) + "/s";
}

std::string size_text(std::int64_t bytes) {
  return bytes_text(static_cast<double>(bytes));
}

std::string time_text(Seconds seconds) {
  return seconds < 1e-3 ? fmt::format("{:.3g} us", 1e6 * seconds) : fmt::format("{:.3g} ms", 1e3 * seconds);
}

std::string line(const std::string& text) {
  return "  - " + text + "\n";
}

/// "1 rank writes 800.0 MiB/s, 4 write 1.9 GiB/s".
std::string rows_text(const RateTable& table, const std::string& one, const std::string& several) {
  std::string text;
  for (std::size_t i = 0; i < table.at.size(); ++i)
    text += fmt::format("{}{} {} {}", i == 0 ? "" : ", ", table.at[i], table.at[i] == 1 ? one : several,
                        rate_text(table.bytes_per_second[i]));
  return text;
}

std::string sizes_text(const FileSystemFigures& f) {
  std::string text;
  for (std::size_t i = 0; i < f.by_size.at.size(); ++i) {
    const auto size = static_cast<double>(f.by_size.at[i]);
    text += line(fmt::format(
        "writes of {}: {}{}{}", size_text(f.by_size.at[i]), rate_text(f.by_size.bytes_per_second[i]),
        f.unaligned.empty() ? "" : ", at odd offsets " + rate_text(f.unaligned.at_size(size)),
        f.in_turns.empty() ? "" : ", nodes in turns " + rate_text(f.in_turns.at_size(size))));
  }
  return text;
}

std::string found_text(const FileSystemFigures& f) {
  std::string text;
  if (!f.by_writers.empty())
    text += line("into one file, of one node: " + rows_text(f.by_writers, "rank writes", "write"));
  if (f.by_nodes.at.size() > 1)
    text += line("into one file, a rank of each node: " + rows_text(f.by_nodes, "node writes", "write"));
  if (!f.own_files.empty())
    text += line("into a file for each node: " + rows_text(f.own_files, "node writes", "write"));
  text += sizes_text(f);
  if (!f.by_stripes.empty())
    text += line("by stripes of the file, until the device has the bytes: " +
                 rows_text(f.by_stripes, "stripe takes", "take"));
  if (f.sync_bytes_per_second > 0)
    text += line(
        fmt::format("until the device has the bytes (durable): {}; an fsync with nothing to send takes {}",
                    rate_text(f.sync_bytes_per_second), time_text(f.sync_seconds)));
  return text + line(fmt::format("a create takes {}, an open {}", time_text(f.create_seconds),
                                 time_text(f.open_seconds)));
}

std::string nodes_text(const NodeFigures& node) {
  std::string text;
  if (node.message_bytes_per_second > 0)
    text += line(fmt::format("between nodes: {}, a small message takes {}",
                             rate_text(node.message_bytes_per_second), time_text(node.message_seconds)));
  text += line(fmt::format("a rank copies {} in memory", rate_text(node.copy_bytes_per_second)));
  if (node.deflate_bytes_per_second > 0)
    text += line(
        fmt::format("a rank compresses {} with shuffle+deflate:1{}", rate_text(node.deflate_bytes_per_second),
                    node.zstd_bytes_per_second > 0
                        ? fmt::format(", {} with shuffle+zstd:1", rate_text(node.zstd_bytes_per_second))
                        : ""));
  return text;
}

}  // namespace

std::string text_of(const Measured& measured, const MachineFigures& figures) {
  const FileSystemFigures& f = figures.file_system;
  std::string text = fmt::format("{} ({}), {} node{} with {} rank{} each, {} rounds\n", f.mount_point, f.kind,
                                 f.nodes, f.nodes == 1 ? "" : "s", f.ranks_per_node,
                                 f.ranks_per_node == 1 ? "" : "s", measured.rounds);
  if (f.nodes == 1)
    text +=
        "Of one node: what several nodes do is not known; run it as the model runs, on two nodes or more.\n";
  text += "Found:\n" + found_text(f) + nodes_text(figures.node);
  if (!measured.left_out.empty())
    text += "Left out, and nothing is chosen by it (give more --minutes, or come when less is going on):\n";
  for (const auto& why : measured.left_out)
    text += line(why);
  text += "Shoal will choose, where no setting says:\n";
  MachineFigures counting = figures;
  const bool known = file_system_named(f.kind).sharing != FileSystem::Sharing::unknown;
  complete_with_defaults(counting, default_figures(f.kind, f.stripe_count, known));
  const StoringChoice choice = choose_storing(&counting);
  for (const auto& [setting, why] : choice.why)
    text += line(why);
  if (choice.why.empty()) text += line("what it chooses on all machines");
  if (counting.default_turns)
    text += line("by default figures, what nodes do to each other: it was not measured as a whole");
  text += line(
      know_nodes(counting)
          ? "for each field by these times, whether nodes store their own cells or send them to I/O ranks"
          : "by counting runs, whether nodes store their own cells or send them to I/O ranks");
  return text;
}

}  // namespace shoal
