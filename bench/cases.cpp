// SPDX-License-Identifier: BSD-3-Clause
// What takes turns: methods, formats and directories.
#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "command_line.hpp"
#include "runner.hpp"

namespace shoal::bench {

namespace {

using Names = std::vector<std::string>;

// The formats to run a method with, those included that it will be refused for.
Names formats_of(const MethodChoice& choice, const Setup& setup, const Content& content) {
  const auto& entry = *choice.entry;
  if (!entry.writes()) return {"none"};
  if (!choice.format.empty()) return {choice.format};
  if (entry.formats.empty()) return {content.define_only ? "none" : "raw"};
  if (!setup.options.formats.empty()) return setup.options.formats;
  for (const auto& format : setup.experiment.formats)
    if (contains(entry.formats, format)) return {format};
  return {entry.formats.front()};
}

// Shoal says itself what it will not do; for everybody else it is said here.
std::string refusal(const MethodChoice& choice, const std::string& format, const Setup& setup,
                    const Content& content) {
  const auto& entry = *choice.entry;
  const std::string name = setup.options.experiment;
  if (!entry.missing.empty()) return entry.missing;
  if (entry.does == MethodEntry::Does::definitions && !content.define_only)
    return entry.name + " makes definitions alone, and " + name + " writes values";
  if (entry.does == MethodEntry::Does::nothing && !setup.experiment.computes())
    return entry.name + " is for experiments that compute, and " + name + " does nothing but output";
  if (setup.experiment.program != ProgramKind::streams &&
      (entry.does == MethodEntry::Does::sums || entry.does == MethodEntry::Does::fields))
    return entry.name + " is for runs whose files have means, and those of " + name + " have none";
  const bool moves_boxes = !entry.through_shoal && (entry.driver == "gather" || entry.driver == "netcdf" ||
                                                    entry.driver == "zarr-python");
  if (content.any_scattered() && moves_boxes)
    return entry.name + " moves boxes, and the columns of " + name + " are lists; --cut block is possible";
  if (content.define_only && (entry.formats.empty() || entry.driver == "zarr-python"))
    return entry.name + " has no definitions apart from values, and " + name + " does nothing else";
  if (!entry.through_shoal && !entry.formats.empty() && !contains(entry.formats, format))
    return entry.name + " has no format " + format + ", only " + joined(entry.formats);
  if (setup.sync_every > 0 && entry.writes() && !entry.syncs)
    return entry.name + " has no sync while its file is open";
  return "";
}

// A name that any file system takes; it begins with what the names of all files of the start begin with.
std::string file_name(const Setup& setup, const Case& c, std::size_t number) {
  const std::string ending = c.format == "raw"     ? (c.method.entry->through_shoal ? ".raw" : ".bin")
                             : c.format == "ascii" ? ".txt"
                             : c.format == "zarr" || c.format == "nczarr" ? ".zarr"
                                                                          : ".nc";
  return setup.files + std::to_string(number) + "-" + c.method.entry->name + "-" + c.format + ending;
}

void check_options(const Options& options, const Setup& setup, const Workload& workload,
                   const Content& content, const std::vector<Case>& cases) {
  const auto any = [&](auto&& what) { return std::any_of(cases.begin(), cases.end(), what); };
  if (!options.hints.empty() && !any([](const Case& c) { return c.method.entry->takes_hints; }))
    throw std::invalid_argument("--hints is given, but none of the methods takes hints");
  if (!options.io_layout.empty() && !any([](const Case& c) { return c.method.entry->layout == "domains"; }))
    throw std::invalid_argument("--io-layout is given, but none of the methods ends in -per-domain");
  if (content.define_only)
    for (const auto& [given, name] :
         {std::pair{options.read, "--read"}, {options.inject_error, "--inject-error"}})
      if (given)
        throw std::invalid_argument(std::string(name) + " is given, but " + workload.name +
                                    " writes no values");
  if (options.read && setup.experiment.computes())
    throw std::invalid_argument("--read is given, but " + workload.name + " does not time reading");
}

}  // namespace

std::vector<Case> cases_of(const Setup& setup, const Workload& workload, const Content& content) {
  const auto& options = setup.options;
  const auto& asked = options.methods.empty() ? setup.experiment.methods : options.methods;
  std::vector<Case> cases;
  std::size_t number = 0;
  for (const auto& text : asked) {
    auto choice = parse_method(text);
    if (choice.entry->layout == "domains" && !options.io_layout.empty())
      choice.settings.emplace("io_layout", options.io_layout);
    for (const auto& format : formats_of(choice, setup, content)) {
      ++number;
      for (const auto& dir : options.dirs) {
        Case c{choice, format, dir, "", refusal(choice, format, setup, content)};
        c.file = file_name(setup, c, number);
        cases.push_back(std::move(c));
      }
    }
  }
  check_options(options, setup, workload, content, cases);
  return cases;
}

}  // namespace shoal::bench
