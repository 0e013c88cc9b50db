// SPDX-License-Identifier: BSD-3-Clause
// The report of a dataset: JSON for programs, a table and one line of advice for people.
#include "dataset/report/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "driver/counters.hpp"
#include "storage/paths.hpp"
#include "storage/text_file.hpp"

namespace shoal {

namespace {

struct Spread {
  double min = 0, median = 0, max = 0;
};

Spread spread_of(const std::vector<RankReport>& ranks, Seconds Counters::*field) {
  std::vector<double> values;
  for (const auto& rank : ranks)
    values.push_back(rank.counters.*field);
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return {values.front(), (values[(n - 1) / 2] + values[n / 2]) / 2, values.back()};
}

std::int64_t sum_of(const DatasetReport& report, std::int64_t Counters::*field) {
  std::int64_t sum = 0;
  for (const auto* ranks : {&report.of_ranks, &report.of_servers})
    for (const auto& rank : *ranks)
      sum += rank.counters.*field;
  return sum;
}

std::int64_t most_of(const DatasetReport& report, std::int64_t Counters::*field) {
  std::int64_t most = 0;
  for (const auto& rank : report.of_ranks)
    most = std::max(most, rank.counters.*field);
  return most;
}

std::vector<std::string> warnings_of(const DatasetReport& report) {
  std::vector<std::string> all;
  for (const auto& rank : report.of_ranks)
    for (const auto& warning : rank.counters.warnings)
      if (std::find(all.begin(), all.end(), warning) == all.end()) all.push_back(warning);
  return all;
}

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 0x20) {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", u);
      out += code.data();
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string number(double value, const char* format = "%.6g") {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// JSON has no infinity.
std::string finite(double value) {
  return std::isfinite(value) ? number(value) : json_text(number(value));
}

std::string object(const std::vector<std::string>& members) {
  return fmt::format("{{{}}}", joined(members, ", "));
}
std::string member(const std::string& name, const std::string& value) {
  return fmt::format("{}: {}", json_text(name), value);
}

std::string list(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const auto& text : texts)
    items.push_back(json_text(text));
  return fmt::format("[{}]", joined(items, ", "));
}

std::string spread_text(const Spread& s) {
  return object(
      {member("min", number(s.min)), member("median", number(s.median)), member("max", number(s.max))});
}

constexpr struct {
  const char* name;
  Seconds Counters::*seconds;
  std::int64_t Counters::*calls;
} k_slow_calls[] = {{"store", &Counters::store, &Counters::writes},
                    {"read", &Counters::read, &Counters::reads}};

std::string slow_nodes_json(const DatasetReport& report) {
  std::vector<std::string> slow;
  for (const auto& call : k_slow_calls)
    if (const auto node = slow_node(report, call.seconds, call.calls))
      slow.push_back(member(
          call.name, object({member("host", json_text(node->host)), member("seconds", number(node->seconds)),
                             member("median", number(node->median))})));
  return object(slow);
}

std::string machine_json(const DatasetReport& report, const Settings& settings) {
  if (!report.machine) return "null";
  const auto store = store_prediction(report, settings).value_or(StorePrediction{});
  const FileSystemFigures& where = report.machine->file_system;
  return object(
      {member("path", json_text(report.machine->path)), member("mount_point", json_text(where.mount_point)),
       member("measured", json_text(where.measured)), member("store_predicted", number(store.predicted)),
       member("store_measured", number(store.measured))});
}

std::string row(const std::string& name, const std::string& value) {
  constexpr std::size_t k_column = 16;
  std::string line = "  " + name;
  line.resize(std::max(line.size() + 1, k_column), ' ');
  return fmt::format("{}{}\n", line, value);
}

std::string filled_text(const std::vector<std::string>& names) {
  constexpr std::ptrdiff_t k_some = 8;
  const auto n = static_cast<std::ptrdiff_t>(names.size());
  const std::vector<std::string> some(names.begin(), names.begin() + std::min(k_some, n));
  return fmt::format("added to {}{}, of which cells are left out", joined(some, ", "),
                     n > k_some ? fmt::format(" and {} more", n - k_some) : "");
}

std::map<std::string, std::int64_t> fill_cells_of(const DatasetReport& report) {
  std::map<std::string, std::int64_t> sums;
  for (const auto& rank : report.of_ranks)
    for (const auto& [variable, cells] : rank.fill_cells)
      sums[variable] += cells;
  return sums;
}

std::map<std::string, OutOfRange> out_of_range_of(const DatasetReport& report) {
  std::map<std::string, OutOfRange> sums;
  for (const auto& rank : report.of_ranks)
    for (const auto& [variable, values] : rank.out_of_range)
      sums[variable].add(values);
  return sums;
}

std::string table_path(const std::string& path) {
  const std::string extension = extension_of(path);
  return (extension == ".txt" ? path : path.substr(0, path.size() - extension.size())) + ".txt";
}

// careful: on behalf of a settings file that nobody named.
void write_text(const std::string& path, const std::string& text, bool append, bool careful) {
  if (!write_text_file(path, text, append, careful))
    throw Error(Code::io,
                "the report cannot be written to '{}' (setting report); is its folder there, and may you "
                "write to it?",
                path);
}

}  // namespace

std::optional<SlowNode> slow_node(const DatasetReport& report, Seconds Counters::*seconds,
                                  std::int64_t Counters::*calls) {
  std::map<std::string, Seconds> hosts;
  for (const auto& rank : report.of_ranks)
    if (rank.counters.*calls > 0) hosts[rank.host] += rank.counters.*seconds;
  if (hosts.size() < 2) return std::nullopt;
  std::vector<SlowNode> nodes;
  for (const auto& [host, spent] : hosts)
    nodes.push_back({host, spent, 0});
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  SlowNode slow = nodes.back();
  slow.median = nodes[(nodes.size() - 1) / 2].seconds;
  constexpr Seconds k_worth_a_word = 0.1;
  if (slow.seconds < 2 * slow.median || slow.seconds - slow.median < k_worth_a_word) return std::nullopt;
  return slow;
}

Bytes packed(const RankReport& report) {
  ByteWriter out;
  pack(out, report.counters);
  out.put(report.open_seconds);
  out.put(report.host);
  out.put(static_cast<std::uint64_t>(report.fill_cells.size()));
  for (const auto& [variable, cells] : report.fill_cells) {
    out.put(variable);
    out.put(cells);
  }
  out.put(static_cast<std::uint64_t>(report.out_of_range.size()));
  for (const auto& [variable, values] : report.out_of_range) {
    out.put(variable);
    out.put(values);
  }
  return out.take();
}

RankReport unpack_rank_report(const Bytes& bytes) {
  ByteReader in(bytes);
  RankReport report{unpack_counters(in)};
  in.get(report.open_seconds);
  in.get(report.host);
  for (auto n = in.get<std::uint64_t>(); n > 0; --n) {
    std::string variable;
    in.get(variable);
    report.fill_cells[variable] = in.get<std::int64_t>();
  }
  for (auto n = in.get<std::uint64_t>(); n > 0; --n) {
    std::string variable;
    in.get(variable);
    report.out_of_range[variable] = in.get<OutOfRange>();
  }
  return report;
}

std::optional<StorePrediction> store_prediction(const DatasetReport& report, const Settings& settings) {
  const bool other = sum_of(report, &Counters::bytes_encoded) > 0 ||
                     sum_of(report, &Counters::bytes_past_cache) > 0 ||
                     settings.bytes("store_bytes_per_second") > 0;
  StorePrediction out{report.of_ranks.front().counters.store_predicted, 0};
  if (!report.machine || out.predicted <= 0 || other) return std::nullopt;
  for (const auto* ranks : {&report.of_ranks, &report.of_servers})
    for (const auto& rank : *ranks)
      out.measured += rank.counters.store;
  return out;
}

std::string json_of(const DatasetReport& report, const Settings& settings) {
  const Counters& first = report.of_ranks.front().counters;
  const auto times_of = [](const std::vector<RankReport>& ranks) {
    std::vector<std::string> times;
    for (const auto& t : k_times)
      if (!ranks.empty()) times.push_back(member(t.name, spread_text(spread_of(ranks, t.field))));
    return object(times);
  };
  std::vector<std::string> counts;
  for (const auto& n : k_counts)
    counts.push_back(member(n.name, std::to_string(sum_of(report, n.field))));
  counts.push_back(member("commits", std::to_string(first.commits)));
  const auto stage =
      object({member("bytes", std::to_string(first.stage_bytes)),
              member("high_water", std::to_string(most_of(report, &Counters::stage_high_water))),
              member("slabs", std::to_string(most_of(report, &Counters::slabs)))});
  const auto hints =
      object({member("taken", list(first.hints_taken)), member("dropped", list(first.hints_dropped))});
  std::vector<std::string> changed;
  for (const auto& key : setting_keys())
    if (!settings.is_default(key.name))
      changed.push_back(member(key.name, object({member("value", json_text(settings.text(key.name))),
                                                 member("from", json_text(settings.origin(key.name)))})));
  std::vector<std::string> fill_cells;
  for (const auto& [variable, cells] : fill_cells_of(report))
    fill_cells.push_back(member(variable, std::to_string(cells)));
  std::vector<std::string> out_of_range;
  for (const auto& [variable, values] : out_of_range_of(report))
    out_of_range.push_back(member(variable, object({member("count", std::to_string(values.count)),
                                                    member("lowest", finite(values.lowest)),
                                                    member("highest", finite(values.highest))})));
  double open_seconds = 0;
  for (const auto& rank : report.of_ranks)
    open_seconds = std::max(open_seconds, rank.open_seconds);
  return object({member("file", json_text(report.path)),
                 member("format", json_text(report.format)),
                 member("driver", json_text(report.driver)),
                 member("ranks", std::to_string(report.ranks)),
                 member("ranks_reported", std::to_string(report.of_ranks.size())),
                 member("nodes", std::to_string(first.nodes)),
                 member("ranks_per_node", std::to_string(first.ranks_per_node)),
                 member("cores_per_node", std::to_string(report.cores)),
                 member("writers", std::to_string(first.writers)),
                 member("file_system", json_text(first.file_system)),
                 member("seconds_open", number(open_seconds)),
                 member("seconds", times_of(report.of_ranks)),
                 member("slow_nodes", slow_nodes_json(report)),
                 member("servers", std::to_string(report.of_servers.size())),
                 member("seconds_of_servers", times_of(report.of_servers)),
                 member("counts", object(counts)),
                 member("stage", stage),
                 member("hints", hints),
                 member("settings", object(changed)),
                 member("machine", machine_json(report, settings)),
                 member("strategies", list(first.strategies)),
                 member("fill_values_added", list(report.filled)),
                 member("fill_values_written", object(fill_cells)),
                 member("values_out_of_range", object(out_of_range)),
                 member("warnings", list(warnings_of(report))),
                 member("advice", json_text(advice_of(report, settings)))});
}

std::string table_of(const DatasetReport& report, const Settings& settings) {
  const Counters& first = report.of_ranks.front().counters;
  std::string out = fmt::format("Shoal report: {}\n", report.path);
  out += row(
      "", fmt::format(
              "{}, driver {}, {} ranks {}on {}{}{}", report.format, report.driver, report.ranks,
              report.of_servers.empty() ? "" : fmt::format("(and {} that serve) ", report.of_servers.size()),
              first.nodes, first.nodes == 1 ? " node, " : " nodes, ", first.file_system));
  if (report.cores > 0 && first.ranks_per_node > report.cores)
    out +=
        row("cores",
            fmt::format("{} ranks share {}{}: times hold what ranks waited for a core, most of all blocked",
                        first.ranks_per_node, report.cores, report.cores == 1 ? " core" : " cores"));
  out += row("seconds", "     min  median     max   over ranks");
  const auto add_times = [&](const std::vector<RankReport>& ranks) {
    for (const auto& t : k_times) {
      if (ranks.empty()) continue;
      const Spread s = spread_of(ranks, t.field);
      if (s.max > 0)
        out += row(t.name, number(s.min, "%8.3f") + number(s.median, "%8.3f") + number(s.max, "%8.3f"));
    }
  };
  add_times(report.of_ranks);
  if (!report.of_servers.empty()) out += row("seconds", "                         over ranks that serve");
  add_times(report.of_servers);
  const auto traffic = [&](const char* name, std::int64_t Counters::*bytes, std::int64_t Counters::*calls,
                           std::int64_t Counters::*fields) {
    if (sum_of(report, bytes) == 0) return;
    out += row(name, fmt::format("{} in {} system calls, {} fields",
                                 bytes_text(static_cast<double>(sum_of(report, bytes))),
                                 sum_of(report, calls), most_of(report, fields)));
  };
  traffic("written", &Counters::bytes_written, &Counters::writes, &Counters::fields_written);
  if (const auto past = sum_of(report, &Counters::bytes_past_cache); past > 0)
    out += row("bypassed", bytes_text(static_cast<double>(past)) + " of it past the page cache");
  if (const auto moved = sum_of(report, &Counters::bytes_moved); moved > 0)
    out += row("moved", bytes_text(static_cast<double>(moved)) + ", to make room for definitions");
  traffic("read", &Counters::bytes_read, &Counters::reads, &Counters::fields_read);
  if (first.stage_bytes > 0)
    out += row("stage",
               fmt::format("{} a node, at most {} in use", bytes_text(static_cast<double>(first.stage_bytes)),
                           bytes_text(static_cast<double>(most_of(report, &Counters::stage_high_water)))));
  if (const auto messages = sum_of(report, &Counters::messages); messages > 0)
    out +=
        row("messages",
            fmt::format("{} in {} messages between nodes",
                        bytes_text(static_cast<double>(sum_of(report, &Counters::message_bytes))), messages));
  for (const auto& call : k_slow_calls)
    if (const auto node = slow_node(report, call.seconds, call.calls))
      out += row("slow node",
                 fmt::format("ranks on {} spent {:.3f} s in '{}', those of the median node {:.3f} s",
                             node->host, node->seconds, call.name, node->median));
  if (report.machine) out += row("machine", text_of(*report.machine));
  if (const auto store = store_prediction(report, settings))
    out +=
        row("predicted", fmt::format("store {:.3f} s over all ranks; it took {:.3f} s, {:.2f} times as much",
                                     store->predicted, store->measured, store->times()));
  for (const auto& strategy : first.strategies)
    out += row("strategy", strategy);
  if (!report.filled.empty()) out += row("_FillValue", filled_text(report.filled));
  for (const auto& [variable, cells] : fill_cells_of(report))
    out += row("fill values",
               fmt::format("{}: {} cells that are no land; readers take them for missing", variable, cells));
  for (const auto& [variable, values] : out_of_range_of(report))
    out += row("out of range", fmt::format("{}: {}", variable, text_of(values)));
  for (const auto& key : setting_keys())
    if (!settings.is_default(key.name))
      out += row("setting",
                 fmt::format("{} = {} ({})", key.name, settings.text(key.name), settings.origin(key.name)));
  for (const auto& hint : first.hints_taken)
    out += row("hint", hint);
  for (const auto& hint : first.hints_dropped)
    out += row("hint dropped", hint);
  for (const auto& warning : warnings_of(report))
    out += row("warning", warning);
  return out + row("advice", advice_of(report, settings));
}

void check_report_path(const std::string& path) {
  if (path.empty() || path == "-") return;
  const std::string folder = folder_of(path);
  if (!is_a_folder(folder))
    throw Error(Code::setting, "setting report is '{}', but the folder '{}' is not there; make it first",
                path, folder);
}

void write_report(const DatasetReport& report, const Settings& settings) {
  std::string path = settings.text("report");
  if (path == "-") {
    std::cerr << printable(table_of(report, settings));
    return;
  }
  const std::size_t mark = path.find("%s");
  if (mark != std::string::npos) path.replace(mark, 2, stem_of(report.path));
  const bool append = mark == std::string::npos;
  const bool careful = !settings.below("report").empty();
  const std::string table = table_path(path);
  settings.check_below("report", path);
  settings.check_below("report", table);
  write_text(path, json_of(report, settings) + "\n", append, careful);
  write_text(table, table_of(report, settings), append, careful);
}

}  // namespace shoal
