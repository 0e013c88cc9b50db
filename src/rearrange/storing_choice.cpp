// SPDX-License-Identifier: BSD-3-Clause
#include "rearrange/storing_choice.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"

namespace shoal {

namespace {

constexpr double k_as_good = 0.9;       // what reaches so much of the best is chosen, if it takes less
constexpr double k_stripes_gain = 1.4;  // stripes cost creates and locks
// Memory of larger ones is not kept from file to file, and takes longer to get than large writes gain.
constexpr std::int64_t k_most_slot_bytes = 4 * 1024 * 1024;

std::string text(std::int64_t bytes) {
  return bytes_text(static_cast<double>(bytes));
}

void choose_writers(const FileSystemFigures& f, StoringChoice& choice) {
  if (f.by_writers.at.size() < 2) return;
  choice.writers = static_cast<int>(f.by_writers.first_with(k_as_good));
  const double gain = f.by_writers.best() / f.by_writers.at_number(1);
  if (choice.writers > 1)
    choice.why.emplace_back("writers",
                            fmt::format("writers={}: {} ranks of a node write {:.1f} times as fast as 1",
                                        choice.writers, choice.writers, gain));
}

// All I/O ranks of a node store at the same time.
void choose_io_ranks_of_node(const FileSystemFigures& f, StoringChoice& choice) {
  const double usual = f.by_writers.at_number(k_io_ranks_of_node);
  if (f.by_writers.empty() || f.by_writers.at.back() < 2 || usual >= k_as_good * f.by_writers.best()) return;
  const RateTable& table = f.by_writers;
  int most = 1;
  for (std::size_t i = 0; i < table.at.size(); ++i)
    if (table.at[i] <= k_io_ranks_of_node && table.bytes_per_second[i] >= k_as_good * table.best())
      most = static_cast<int>(table.at[i]);
  if (most >= std::min<std::int64_t>(k_io_ranks_of_node, table.at.back())) return;
  choice.io_ranks_of_node = most;
  choice.why.emplace_back(
      "io_ranks", fmt::format("{} I/O rank{} a node: more of them write slower", most, most == 1 ? "" : "s"));
}

// Where more nodes gain nothing, the fewest are best: they take less locks from each other.
void choose_io_nodes(const FileSystemFigures& f, StoringChoice& choice) {
  if (f.by_nodes.at.size() < 2) return;
  const std::int64_t nodes = f.by_nodes.first_with(k_as_good);
  if (nodes >= f.by_nodes.at.back()) return;
  choice.io_nodes = static_cast<int>(nodes);
  choice.why.emplace_back("io_ranks",
                          fmt::format("I/O ranks on {} node{} at most: more of them write no faster", nodes,
                                      nodes == 1 ? "" : "s"));
}

// Boxes of several nodes are as turns of their size.
void choose_least_box(const FileSystemFigures& f, StoringChoice& choice) {
  const std::int64_t harmless = harmless_turn(f);
  if (f.in_turns.empty() || harmless == f.in_turns.at.front()) return;
  choice.least_box_bytes = harmless > 0 ? harmless : f.in_turns.at.back();
  choice.why.emplace_back(
      "io_ranks", fmt::format("boxes of I/O ranks have {} at least: nodes that write {} in turns are {:.1f} "
                              "times as slow",
                              text(choice.least_box_bytes), text(f.in_turns.at.front()),
                              f.by_size.at_size(static_cast<double>(f.in_turns.at.front())) /
                                  f.in_turns.bytes_per_second.front()));
}

void choose_slot(const FileSystemFigures& f, StoringChoice& choice) {
  const RateTable& sizes = f.by_size;
  if (sizes.empty()) return;
  double best = 0;
  for (std::size_t i = 0; i < sizes.at.size(); ++i)
    if (sizes.at[i] <= k_most_slot_bytes) best = std::max(best, sizes.bytes_per_second[i]);
  const auto share = static_cast<double>(k_default_slot_bytes) / choice.writers;
  if (sizes.at_size(share) >= k_as_good * best) return;
  const auto good = std::find_if(sizes.bytes_per_second.begin(), sizes.bytes_per_second.end(),
                                 [&](double rate) { return rate >= k_as_good * best; });
  const std::int64_t write_bytes = sizes.at[static_cast<std::size_t>(good - sizes.bytes_per_second.begin())];
  choice.slot_bytes = std::clamp(write_bytes * choice.writers, k_default_slot_bytes, k_most_slot_bytes);
  if (choice.slot_bytes > k_default_slot_bytes)
    choice.why.emplace_back(
        "slot_bytes",
        fmt::format("slot_bytes={}: writes of {} are {:.1f} times as fast as of {}", choice.slot_bytes,
                    text(write_bytes), best / sizes.at_size(share), bytes_text(share)));
}

void choose_stripes(const FileSystemFigures& f, StoringChoice& choice) {
  if (f.by_stripes.empty()) return;
  const auto usual = static_cast<double>(std::max<std::int64_t>(1, f.stripe_count));
  const double gain = f.by_stripes.best() / f.by_stripes.at_number(usual);
  const std::int64_t count = f.by_stripes.first_with(k_as_good);
  if (gain < k_stripes_gain || count == f.stripe_count) return;
  choice.stripe_count = count;
  choice.why.emplace_back(
      "stripe_count", fmt::format("stripe_count={}: {:.1f} times as fast as with {}", count, gain, usual));
}

}  // namespace

StoringChoice choose_storing(const MachineFigures* figures) {
  StoringChoice choice;
  if (figures == nullptr) return choice;
  const FileSystemFigures& f = figures->file_system;
  choose_writers(f, choice);
  choose_io_ranks_of_node(f, choice);
  choose_io_nodes(f, choice);
  choose_least_box(f, choice);
  choose_slot(f, choice);
  choose_stripes(f, choice);
  return choice;
}

}  // namespace shoal
