// SPDX-License-Identifier: BSD-3-Clause
#include "rearrange/strategy.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdio>

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
  if (strategy.nodes_can_store && facts.interleaves_records &&
      static_cast<double>(counts.cells) >= model.short_run * static_cast<double>(counts.runs))
    return {Rearranging::never, {}};
  return strategy;
}

CostEstimate estimate_cost(const FieldCounts& counts, const CostModel& model) {
  return {counts.bytes < model.short_run * counts.runs, counts.runs >= model.fewer_runs * counts.box_runs};
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
                        const FieldStrategy& chosen, const FieldCounts& counts) {
  std::string line = chosen.rearrange ? "rearrange: " : "local: ";
  if (!chosen.why.empty()) line += chosen.why + "; ";
  const std::string who = options.rearranger == RearrangerKind::subset ? "groups" : "nodes";
  if (counts.counted)
    line += who + (chosen.rearrange ? " would store " : " store ") + runs_text(counts.runs, counts.bytes);
  if (strategy.rearranging == Rearranging::never) return line;
  const double boxes = counts.io_ranks;
  line += (counts.counted ? "; " : "") + counted(boxes, " I/O rank ", " I/O ranks ") +
          (chosen.rearrange ? (boxes == 1 ? "stores " : "store ") : "would store ") +
          counted(boxes, " box of ", " boxes of ") + bytes_text(counts.field_bytes / boxes);
  if (counts.box_runs >= 2 * boxes) line += fmt::format(", {} runs", count_text(counts.box_runs));
  return line;
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
