// SPDX-License-Identifier: BSD-3-Clause
#include "programs/stream_files.hpp"

#include <algorithm>
#include <stdexcept>

namespace shoal::bench {

namespace {

// Dimensions and times as the content has them, without its distributed fields. Records of means lie in the
// middle of their bounds, instants at the end of their steps.
RunFile without_fields(const std::string& which, const Content& content, std::int64_t records, double seconds,
                       bool has_bounds) {
  RunFile file{which, content, records};
  std::erase_if(file.content.fields, [&](const Field& field) {
    return field.distributed || (field.name == "time_bounds" && !has_bounds);
  });
  for (auto& field : file.content.fields)
    for (std::int64_t r = 0; r < records; ++r) {
      const double begin = seconds * static_cast<double>(r), end = seconds * static_cast<double>(r + 1);
      if (field.name == "time_bounds")
        field.given.insert(field.given.end(), {begin, end});
      else
        field.given.push_back(has_bounds ? (begin + end) / 2 : end);
    }
  return file;
}

const Field& find_field(const Content& content, const std::string& name) {
  const auto found = std::find_if(content.fields.begin(), content.fields.end(),
                                  [&](const Field& field) { return field.name == name; });
  if (found == content.fields.end()) throw std::logic_error("the content has no field " + name);
  return *found;
}

}  // namespace

const std::vector<Extreme>& extremes() {
  static const std::vector<Extreme> all = [] {
    std::vector<Extreme> made;
    for (const char* field : {"zeta", "sst", "sss", "temp"})
      for (const bool highest : {true, false})
        made.push_back({std::string(field) + (highest ? "_max" : "_min"), field, highest});
    return made;
  }();
  return all;
}

std::vector<RunFile> stream_files(const Setup& setup, const Content& content) {
  const double step = k_day_seconds * static_cast<double>(setup.records) / static_cast<double>(setup.steps);
  auto means = without_fields("means", content, setup.records, k_day_seconds, true);
  auto instants = without_fields("instants", content, setup.steps, step, false);
  auto highs_and_lows = without_fields("extremes", content, setup.records, k_day_seconds, true);
  for (const auto& field : content.fields) {
    if (!field.distributed) continue;
    means.content.fields.push_back(field);
    if (field.levels() == 1) instants.content.fields.push_back(field);
  }
  for (const auto& extreme : extremes()) {
    auto& added = highs_and_lows.content.fields.emplace_back(find_field(content, extreme.of));
    added.name = extreme.name;
  }
  return {std::move(means), std::move(instants), std::move(highs_and_lows)};
}

}  // namespace shoal::bench
