// SPDX-License-Identifier: BSD-3-Clause
// What a configuration is beside its text. Reading it: read_configuration.cpp.
#include "streams/configuration.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/text.hpp"
#include "dataset/settings/settings.hpp"
#include "format/checks.hpp"
#include "format/group_paths.hpp"

namespace shoal::streams {

namespace {

struct OperationName {
  const char* name;
  Operation operation;
};
// The first name of an operation is its own, others are known beside it.
constexpr std::array k_operations = {
    OperationName{"instant", Operation::instant},
    OperationName{"first", Operation::first},
    OperationName{"last", Operation::last},
    OperationName{"mean", Operation::mean},
    OperationName{"average", Operation::mean},
    OperationName{"sum", Operation::sum},
    OperationName{"minimum", Operation::minimum},
    OperationName{"min", Operation::minimum},
    OperationName{"maximum", Operation::maximum},
    OperationName{"max", Operation::maximum},
    OperationName{"range", Operation::range},
    OperationName{"variance", Operation::variance},
    OperationName{"rms", Operation::rms},
    OperationName{"standard_deviation", Operation::standard_deviation},
    OperationName{"std", Operation::standard_deviation},
    OperationName{"count", Operation::count},
    OperationName{"diurnal", Operation::diurnal},
};
constexpr int k_most_bins = 1440;

}  // namespace

const char* name_of(Operation operation) {
  for (const auto& known : k_operations)
    if (known.operation == operation) return known.name;
  return "instant";
}

std::string text_of(const TimeOperation& operation) {
  return operation.operation == Operation::diurnal ? fmt::format("diurnal({})", operation.bins)
                                                   : name_of(operation.operation);
}

TimeOperation parse_operation(const std::string& text) {
  const std::string given = lower(trimmed(text));
  const std::size_t open = given.find('(');
  const std::string name = trimmed(given.substr(0, open));
  const auto* const found =
      std::find_if(k_operations.begin(), k_operations.end(), [&](const auto& o) { return name == o.name; });
  if (found == k_operations.end()) {
    std::vector<std::string> names;
    for (const auto& known : k_operations)
      if (name_of(known.operation) == std::string(known.name)) names.emplace_back(known.name);
    const std::string hint = did_you_mean(name, names);
    throw Error(Code::setting, "'{}' is no operation{}", text,
                hint.empty() ? "; there are: " + joined(names, ", ") : hint);
  }
  TimeOperation operation{found->operation, 0};
  const bool has_bins = open != std::string::npos;
  if (operation.operation != Operation::diurnal) {
    if (has_bins) throw Error(Code::setting, "'{}': {} takes no number in brackets", text, name);
    return operation;
  }
  const std::string bins =
      has_bins && given.ends_with(')') ? trimmed(given.substr(open + 1, given.size() - open - 2)) : "";
  const auto read = std::from_chars(bins.data(), bins.data() + bins.size(), operation.bins);
  if (bins.empty() || read.ec != std::errc() || read.ptr != bins.data() + bins.size() || operation.bins < 2 ||
      operation.bins > k_most_bins)
    throw Error(Code::setting, "'{}': diurnal needs the number of parts of a day, 2 to {}: \"diurnal(24)\"",
                text, k_most_bins);
  return operation;
}

int FileChoice::line_of(const std::string& key) const {
  for (const auto& [known, at] : lines)
    if (known == key) return at;
  return line;
}

std::string FileChoice::settings_text() const {
  std::string text;
  for (const auto& [key, value] : settings) {
    if (!text.empty()) text += ", ";
    text += key + '=' + (value.find_first_of(",\n #") == std::string::npos ? value : '"' + value + '"');
  }
  return text;
}

Format FileChoice::format() const {
  std::string format = Settings().text("format");
  for (const auto& [key, value] : settings)
    if (key == "format") format = value;
  return format_of(format);
}

void FileChoice::check_variable(const std::string& variable, const std::set<std::string>& others) const {
  check_path(variable, "variable", format());
  for (std::string group = group_of(variable); !group.empty(); group = group_of(group))
    if (others.contains(group))
      throw Error(Code::exists,
                  "'{}' would be in a group '{}', which the file has as a variable or dimension", variable,
                  group);
}

std::optional<Instant> end_of_file(const FileChoice& choice, const Calendar& calendar,
                                   const std::optional<Window>& period) {
  std::optional<Instant> end;
  if (period) end = period->end;
  if (choice.until.empty()) return end;
  const Instant until = calendar.parse(choice.until);
  return end ? std::min(*end, until) : until;
}

void compose_names(Configuration& configuration) {
  const auto compose = [](std::string& name) { name = composed(name); };
  const auto compose_all = [&](auto& items, auto member) {
    for (auto& item : items)
      compose(item.*member);
  };
  for (FileChoice& file : configuration.files) {
    for (FieldChoice& field : file.fields) {
      compose(field.text);
      compose(field.name);
      compose_all(field.attributes, &AttributeChoice::name);
    }
    compose_all(file.region, &CoordinateRange::coordinate);
    for (NamedRegion& one : file.regions) {
      compose(one.name);
      compose_all(one.region, &CoordinateRange::coordinate);
    }
    if (file.sites)
      for (std::string& coordinate : file.sites->coordinates)
        compose(coordinate);
    compose_all(file.indices, &IndexRange::dim);
    compose_all(file.levels, &Levels::dim);
    compose_all(file.attributes, &AttributeChoice::name);
    if (file.interpolate)
      for (std::string* name : {&file.interpolate->dim, &file.interpolate->levels, &file.interpolate->name})
        compose(*name);
    if (file.reduce)
      for (std::string& dim : file.reduce->dims)
        compose(dim);
  }
}

std::string text_of(const Problem& problem) {
  std::string text;
  if (problem.line > 0) text += fmt::format("line {}: ", problem.line);
  if (!problem.key.empty()) text += problem.key + ": ";
  return text + problem.message;
}

Error error_of(const Problem& problem, Code code, const std::string& path) {
  return Error(code, text_of(problem)).in_file(path);
}

Configuration read_configuration(const std::string& text, const std::string& path) {
  std::vector<Problem> problems;
  Configuration configuration = read_configuration(text, path, problems);
  if (!problems.empty()) {
    std::string message = text_of(problems.front());
    if (problems.size() > 1)
      message += fmt::format(" (and {} more: 'shoal streams check' lists them)", problems.size() - 1);
    throw Error(Code::setting, std::move(message)).in_file(configuration.path);
  }
  return configuration;
}

}  // namespace shoal::streams
