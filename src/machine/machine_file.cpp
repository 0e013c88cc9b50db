// SPDX-License-Identifier: BSD-3-Clause
#include "machine/machine_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/toml_text.hpp"
#include "machine/fields.hpp"
#include "storage/below.hpp"
#include "storage/paths.hpp"
#include "storage/text_file.hpp"

namespace shoal {

namespace {

constexpr const char* k_format_key = "shoal_machine";
constexpr std::int64_t k_format = 1;
constexpr int k_old_days = 365;

/// Days since 1970; nothing for text that is no date.
std::optional<int> day_of(const std::string& text) {
  int year = 0, end = 0;
  unsigned month = 0, day = 0;
  if (std::sscanf(text.c_str(), "%4d-%2u-%2u%n", &year, &month, &day, &end) != 3 ||
      end != static_cast<int>(text.size()))
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month},
                                         std::chrono::day{day}};
  if (!date.ok()) return std::nullopt;
  return static_cast<int>(std::chrono::sys_days(date).time_since_epoch().count());
}

}  // namespace

namespace {

/// Takes the values of one table, key by key, and then refuses the keys that nobody asked for.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string where) : table_(table), where_(std::move(where)) {}

  void operator()(const char* key, std::string& value) {
    if (const toml::node* node = find(key)) {
      const auto text = node->value_exact<std::string>();
      if (!text) refuse(*node, key, "is not text");
      value = *text;
    }
  }
  void operator()(const char* key, std::int64_t& value) {
    if (const toml::node* node = find(key)) {
      const auto number = node->value_exact<std::int64_t>();
      if (!number || *number < 0) refuse(*node, key, "is no whole number of 0 or more");
      value = *number;
    }
  }
  void operator()(const char* key, double& value) {
    if (const toml::node* node = find(key)) value = number_of(*node, key, 0);
  }
  void operator()(const char* key, const char* first, RateTable& out) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (!node->is_table()) refuse(*node, key, "is no table");
    TableReader rows(*node->as_table(), fmt::format("[file_system.{}]", key));
    std::vector<double> where;
    rows.numbers(first, where);
    rows.numbers("bytes_per_second", out.bytes_per_second);
    rows.finish();
    for (const double n : where)
      out.at.push_back(std::llround(n));
    const bool ascends = std::adjacent_find(out.at.begin(), out.at.end(),
                                            [](auto a, auto b) { return a >= b; }) == out.at.end();
    if (out.at.size() != out.bytes_per_second.size() || !ascends)
      refuse(*node, key,
             fmt::format("needs as many values of {}, which ascend, as of bytes_per_second", first));
  }
  void finish() const {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (std::find(known_.begin(), known_.end(), name) == known_.end())
        throw Error(Code::setting, "line {}: {} has no key '{}'{}", key.source().begin.line, where_, name,
                    did_you_mean(name, known_));
    }
  }
  const toml::node* find(const char* key) {
    known_.emplace_back(key);
    return table_.get(key);
  }
  [[noreturn]] static void refuse(const toml::node& node, const std::string& key, const std::string& why) {
    throw Error(Code::setting, "line {}: '{}' {}; run shoal tune again, or correct it",
                node.source().begin.line, key, why);
  }

 private:
  static double number_of(const toml::node& node, const char* key, double least) {
    const auto number = node.value<double>();
    if (!node.is_number() || !number || !std::isfinite(*number) || *number < least)
      refuse(node, key, least > 0 ? "has a value that is no number above 0" : "is no number of 0 or more");
    return *number;
  }
  void numbers(const char* key, std::vector<double>& out) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    if (array == nullptr) refuse(*node, key, "is no list of numbers");
    for (const auto& item : *array)
      out.push_back(number_of(item, key, 1e-6));
  }

  const toml::table& table_;
  std::string where_;
  std::vector<std::string> known_;
};

FileSystemFigures file_system_in(const toml::node& node) {
  if (!node.is_table()) TableReader::refuse(node, "file_system", "is no list of tables [[file_system]]");
  FileSystemFigures figures;
  TableReader reader(*node.as_table(), "[[file_system]]");
  visit_file_system(figures, reader);
  reader.finish();
  if (figures.mount_point.empty() || figures.mount_point.front() != '/')
    TableReader::refuse(node, "mount_point", "is no path from the root of all folders");
  if (!day_of(figures.measured)) TableReader::refuse(node, "measured", "is no date such as 2026-11-25");
  if (figures.nodes < 1 || figures.ranks_per_node < 1)
    TableReader::refuse(node, "nodes", "and ranks_per_node are 1 or more");
  return figures;
}

Machine machine_in(const toml::table& document) {
  Machine machine;
  TableReader top(document, "the file");
  std::int64_t format = 0;
  top(k_format_key, format);
  if (format != k_format)
    throw Error(Code::setting,
                "this is no machine file of this version of Shoal ({} = {} is missing); make "
                "one with shoal tune",
                k_format_key, k_format);
  if (const toml::node* node = top.find("node")) {
    if (!node->is_table()) TableReader::refuse(*node, "node", "is no table [node]");
    TableReader reader(*node->as_table(), "[node]");
    visit_node(machine.node, reader);
    reader.finish();
  }
  if (const toml::node* node = top.find("file_system")) {
    if (!node->is_array()) TableReader::refuse(*node, "file_system", "is no list of tables [[file_system]]");
    for (const auto& entry : *node->as_array())
      machine.file_systems.push_back(file_system_in(entry));
  }
  top.finish();
  return machine;
}

/// Lines of TOML; what was not measured is left out.
struct LineWriter {
  std::string& out;
  const std::string table_prefix;
  std::string tables = {};  ///< go behind the plain values

  void operator()(const char* key, const std::string& value) {
    std::ostringstream text;
    text << toml::value<std::string>(value);
    out += fmt::format("{} = {}\n", key, text.str());
  }
  void operator()(const char* key, std::int64_t value) {
    if (value > 0) out += fmt::format("{} = {}\n", key, value);
  }
  void operator()(const char* key, double value) {
    if (value > 0) out += fmt::format("{} = {:.4e}\n", key, value);
  }
  void operator()(const char* key, const char* first, const RateTable& table) {
    if (table.empty()) return;
    std::vector<std::string> at, rates;
    for (std::size_t i = 0; i < table.at.size(); ++i) {
      at.push_back(std::to_string(table.at[i]));
      rates.push_back(fmt::format("{:.3e}", table.bytes_per_second[i]));
    }
    tables += fmt::format("[{}{}]\n{} = [{}]\nbytes_per_second = [{}]\n", table_prefix, key, first,
                          joined(at, ", "), joined(rates, ", "));
  }
};

}  // namespace

Machine machine_in_text(const std::string& text, const std::string& path) {
  return in_context(path, [&] { return machine_in(parse_toml(text, path)); });
}

bool is_of_machine(const std::string& text, const std::string& path) {
  bool found = false;
  const Status status = caught([&] { found = parse_toml(text, path).contains(k_format_key); });
  return status.ok() && found;
}

std::string text_of(const Machine& machine) {
  std::string out = fmt::format(
      "# What Shoal measured of this machine (shoal tune), and chooses by. Sizes in bytes, times in "
      "seconds.\n"
      "{} = {}\n\n[node]\n",
      k_format_key, k_format);
  visit_node(machine.node, LineWriter{out, "node."});
  for (const auto& figures : machine.file_systems) {
    out += "\n[[file_system]]\n";
    LineWriter lines{out, "file_system."};
    visit_file_system(figures, lines);
    out += lines.tables;
  }
  return out;
}

Machine read_machine(const std::string& path) {
  if (!path_exists(path))
    throw Error(Code::not_found,
                "there is no such machine file; make one with shoal tune, or correct the "
                "setting machine")
        .in_file(path);
  return machine_in_text(text_of_file(path, k_most_settings_bytes), path);
}

bool is_machine_file(const std::string& path) {
  bool found = false;
  const Status status =
      caught([&] { found = is_of_machine(text_of_file(path, k_most_settings_bytes), path); });
  return status.ok() && found;
}

void replace_file_system(Machine& machine, const FileSystemFigures& figures) {
  for (auto& there : machine.file_systems)
    if (there.mount_point == figures.mount_point) {
      there = figures;
      return;
    }
  machine.file_systems.push_back(figures);
}

const FileSystemFigures* file_system_for(const Machine& machine, const std::string& path) {
  const std::string place = resolved_path(path);
  const FileSystemFigures* best = nullptr;
  for (const auto& figures : machine.file_systems)
    if (is_below(place, figures.mount_point) &&
        (best == nullptr || figures.mount_point.size() > best->mount_point.size()))
      best = &figures;
  return best;
}

FoundMachine find_machine(const std::string& request, const std::string& settings, const std::string& dataset,
                          const std::string& kind, const std::string& today) {
  FoundMachine found;
  if (request == "none") return found;
  std::string path = request;
  Machine machine;
  if (request == "auto") {
    path = path_beside(settings, k_machine_file);
    FoundText file = find_text(path, k_most_settings_bytes);
    if (!file.there) return found;
    if (file.why_not.empty() && !is_of_machine(file.text, path))
      file.why_not = "it is no machine file of Shoal";
    if (!file.why_not.empty()) {
      found.warnings.push_back(
          fmt::format("{} is not used: {}; set machine=none, move it away, or name it (machine={})", path,
                      file.why_not, path));
      return found;
    }
    machine = machine_in_text(file.text, path);
  } else {
    machine = read_machine(path);
  }
  const FileSystemFigures* const figures = file_system_for(machine, dataset);
  const std::string command = "shoal tune " + folder_of(dataset);
  if (figures == nullptr) {
    // One that lies there need not be about all folders; one that is named must not be passed over in
    // silence.
    if (request != "auto")
      found.warnings.push_back(fmt::format("machine={} is not used: it has no file system above {}; run {}",
                                           path, dataset, command));
    return found;
  }
  if (figures->kind != kind) {
    found.warnings.push_back(
        fmt::format("{} is not used: it was measured where {} is {}, and here it is {}; run {}", path,
                    figures->mount_point, figures->kind, kind, command));
    return found;
  }
  if (const int age = day_of(today).value_or(0) - *day_of(figures->measured); age > k_old_days)
    found.warnings.push_back(
        fmt::format("{} was measured {} days ago ({}); run {}", path, age, figures->measured, command));
  found.figures = MachineFigures{path, machine.node, *figures};
  return found;
}

std::string date_of_today() {
  const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  const std::chrono::year_month_day date(today);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

}  // namespace shoal
