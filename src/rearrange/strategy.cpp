// SPDX-License-Identifier: BSD-3-Clause
#include "rearrange/strategy.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"

namespace shoal {

namespace {

std::string count_text(double n) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), n < 1e5 ? "%.0f" : "%.2g", n);
  return text.data();
}

std::string counted(double n, const char* one, const char* several) {
  return count_text(n) + (n == 1 ? one : several);
}

// What an I/O rank stores at a time, at most: a part of its node's window.
constexpr double k_most_box_write = 4 * 1024 * 1024;

// Longer runs are never sent; nothing: they may be, whatever their length.
std::optional<double> long_run_of(const CostModel& model) {
  if (model.figures == nullptr || !know_nodes(*model.figures)) return model.short_run;
  const std::int64_t harmless = harmless_turn(model.figures->file_system);
  if (harmless == 0) return std::nullopt;
  return std::max(model.short_run, static_cast<double>(harmless));
}

std::string seconds_text(Seconds seconds) {
  return seconds < 1 ? fmt::format("{:.3g} ms", 1e3 * seconds) : fmt::format("{:.3g} s", seconds);
}

// What the figures of the machine say of the ways, as far as they know.
std::string predicted_text(const FieldCounts& counts, const CostModel& model) {
  const CostEstimate cost = estimate_cost(counts, model);
  if (cost.local <= 0 || !model.figures->measured()) return "";
  std::string text = fmt::format("; predicted: local {}", seconds_text(cost.local));
  if (cost.timed) text += fmt::format(", rearranged {}", seconds_text(cost.rearranged));
  return text;
}

std::string runs_text(double runs, double bytes) {
  return counted(runs, " run of ", " runs of ") + bytes_text(runs > 0 ? bytes / runs : 0);
}

}  // namespace

void check_rearranging(const RearrangeOptions& options, int writers) {
  if (options.rearranger == RearrangerKind::box && options.rearrange == Rearrange::off)
    throw Error(
        Code::setting,
        "rearranger=box and rearrange=off contradict each other, as cells go to the boxes of I/O ranks by "
        "rearranging; leave one of them out");
  if (options.rearranger != RearrangerKind::subset) {
    if (options.rearrange == Rearrange::off && sets_io_ranks(options))
      throw Error(
          Code::setting,
          "rearrange=off and settings of I/O ranks (io_ranks, io_ranks_per_node, io_stride, io_base) "
          "contradict each other, as cells go to these ranks by rearranging; leave one of them out, or "
          "set rearranger=subset");
    return;
  }
  if (options.rearrange == Rearrange::on)
    throw Error(
        Code::setting,
        "rearranger=subset and rearrange=on contradict each other, as each I/O rank stores what its own "
        "group has; leave one of them out");
  if (writers > 1)
    throw Error(Code::setting,
                "rearranger=subset and writers={} contradict each other, as one rank of each group stores; "
                "set io_ranks_per_node, and leave writers out",
                writers);
}

std::string setting_that_rearranges(const RearrangeOptions& options) {
  if (options.rearrange == Rearrange::on) return "rearrange=on";
  if (options.rearranger == RearrangerKind::box) return "rearranger=box";
  return sets_io_ranks(options) ? "I/O ranks are set" : "";
}

std::string setting_that_keeps(const RearrangeOptions& options) {
  if (options.rearranger == RearrangerKind::subset) return "rearranger=subset";
  return options.rearrange == Rearrange::off ? "rearrange=off" : "";
}

Strategy choose_strategy(const RearrangeOptions& options, const JobFacts& facts) {
  if (facts.one_node_stores)
    return {Rearranging::always, "nodes do not see each other's writes on " + facts.file_system};
  if (std::string setting = setting_that_rearranges(options); !setting.empty())
    return {Rearranging::always, std::move(setting)};
  return {facts.nodes > 1 ? Rearranging::by_cost : Rearranging::never, {}};
}

Strategy choose_strategy(const RearrangeOptions& options, const JobFacts& facts, const CellCounts& counts,
                         const CostModel& model) {
  Strategy strategy = choose_strategy(options, facts);
  if (strategy.rearranging != Rearranging::by_cost) return strategy;
  const std::string keeps = setting_that_keeps(options);
  strategy.nodes_can_store = counts.most_runs <= model.most_runs_of_node;
  if (!keeps.empty()) {
    if (!strategy.nodes_can_store)
      throw Error(
          Code::setting,
          "{}, but the cells of a map that a node has are {} runs, and a node can store {} without "
          "rearranging; leave the setting out, or number the cells so that a node's follow each other",
          keeps, counts.most_runs, model.most_runs_of_node);
    return {Rearranging::never, keeps};
  }
  // Runs of so many cells are long whatever the type.
  const std::optional<double> long_run = long_run_of(model);
  if (strategy.nodes_can_store && facts.interleaves_records && long_run &&
      static_cast<double>(counts.cells) >= *long_run * static_cast<double>(counts.runs))
    return {Rearranging::never, {}};
  return strategy;
}

CostEstimate estimate_cost(const FieldCounts& counts, const CostModel& model) {
  CostEstimate cost;
  cost.short_runs = counts.bytes < model.short_run * counts.runs;
  cost.fewer_runs = counts.runs >= model.fewer_runs * counts.box_runs;
  if (model.figures == nullptr) return cost;
  const MachineFigures& figures = *model.figures;
  const double bytes = counts.field_bytes, nodes = counts.nodes;
  const double run = counts.runs > 0 ? counts.bytes / counts.runs : bytes / nodes;
  const double share = counts.share_bytes > 0 ? counts.share_bytes : run;
  const double writers = counts.writers_of_node;
  // Ranks that store their own parts of a run each come back to its node's part of the file.
  const double turn = counts.rank_run > 0 ? std::min(run, counts.rank_run) : run;
  cost.local = store_seconds(figures, {bytes, nodes, writers, std::min(run, share), turn});
  if (counts.io_ranks == 0 || counts.box_runs <= 0 || !know_nodes(figures)) return cost;
  const double io_ranks = counts.io_ranks;
  const double storing_nodes = std::min({nodes, io_ranks, counts.io_nodes > 0 ? counts.io_nodes : nodes});
  const double box_run = std::min(bytes / counts.box_runs, k_most_box_write);
  cost.boxes = store_seconds(figures, {bytes, storing_nodes, io_ranks / storing_nodes, box_run, 0});
  cost.rearranged = message_seconds(figures, bytes, nodes, storing_nodes, io_ranks) + cost.boxes;
  if (storing_nodes < nodes) cost.opens = figures.file_system.open_seconds / model.fields_of_open;
  cost.timed = cost.local > 0;
  cost.worth_messages = model.worth_messages;
  return cost;
}

Seconds predicted_store(const FieldCounts& counts, bool rearranged, const CostModel& model) {
  if (model.figures == nullptr || !model.figures->measured()) return 0;
  const CostEstimate cost = estimate_cost(counts, model);
  return rearranged ? cost.boxes * counts.io_ranks : cost.local * counts.nodes * counts.writers_of_node;
}

FieldStrategy choose_field_strategy(const Strategy& strategy, const FieldCounts& counts,
                                    const CostModel& model) {
  if (strategy.rearranging == Rearranging::always && !counts.boxes_fit && counts.one_rank)
    return {false, "a section of a field that one rank has"};
  if (strategy.rearranging != Rearranging::by_cost)
    return {strategy.rearranging == Rearranging::always, strategy.why};
  if (strategy.nodes_can_store && !estimate_cost(counts, model).rearranging_pays())
    return {false, strategy.why};
  if (!counts.boxes_fit) return {false, "a section that cuts dimensions between others that are cut"};
  return {true, strategy.why};
}

std::string report_text(const RearrangeOptions& options, const Strategy& strategy,
                        const FieldStrategy& chosen, const FieldCounts& counts, const CostModel& model) {
  std::string line = chosen.rearrange ? "rearrange: " : "local: ";
  if (!chosen.why.empty()) line += chosen.why + "; ";
  const std::string who = options.rearranger == RearrangerKind::subset ? "groups" : "nodes";
  if (counts.counted)
    line += who + (chosen.rearrange ? " would store " : " store ") + runs_text(counts.runs, counts.bytes);
  if (strategy.rearranging == Rearranging::never) return line + predicted_text(counts, model);
  const double boxes = counts.io_ranks;
  line += (counts.counted ? "; " : "") + counted(boxes, " I/O rank ", " I/O ranks ") +
          (chosen.rearrange ? (boxes == 1 ? "stores " : "store ") : "would store ") +
          counted(boxes, " box of ", " boxes of ") + bytes_text(counts.field_bytes / boxes);
  if (counts.box_runs >= 2 * boxes) line += fmt::format(", {} runs", count_text(counts.box_runs));
  return line + predicted_text(counts, model);
}

std::string report_text_of_one_node(const FieldCounts& counts, const CostModel& model) {
  return "local: there is one node" + predicted_text(counts, model);
}

std::string report_text(const Strategy& strategy, const SentChunks& sent) {
  const bool always = strategy.rearranging == Rearranging::always;
  std::string line =
      fmt::format("rearrange: {}; ", always ? strategy.why : "a chunk is compressed as a whole");
  const auto chunks = static_cast<double>(sent.chunks);
  if (sent.several_nodes)
    line += fmt::format(
        "{} of {} cells of several nodes, {} of {} go to another node; ",
        count_text(static_cast<double>(sent.cut)), counted(chunks, " chunk has", " chunks have"),
        bytes_text(static_cast<double>(sent.elsewhere)), bytes_text(static_cast<double>(sent.bytes)));
  return line + std::to_string(sent.coders) + (sent.coders == 1 ? " rank compresses " : " ranks compress ") +
         counted(chunks, " chunk", " chunks");
}

std::string report_text_of_decoded(std::int64_t decoded, std::int64_t chunks) {
  return fmt::format("local: each node decodes what its ranks read; nodes decode {}{}",
                     counted(static_cast<double>(decoded), " chunk of ", " chunks of "),
                     count_text(static_cast<double>(chunks)));
}

std::string report_text_of_groups(int groups, int ranks) {
  const bool one = groups == 1;
  return fmt::format("subset: {} I/O rank{} what {}{}{}", groups, one ? " stores" : "s store", ranks,
                     ranks == 1 ? " rank has" : " ranks have", one ? "" : " each (in rank 0's group)");
}

}  // namespace shoal
