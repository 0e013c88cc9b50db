// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner.hpp"

namespace shoal::bench {

inline constexpr std::int64_t k_minutes_of_day = 1440;
inline constexpr double k_day_seconds = 60.0 * k_minutes_of_day;

/// Places of the files in their list.
enum StreamFile : std::size_t { k_means, k_instants, k_extremes };

/// A variable of the file of extremes: the highest or the lowest value of a field in a day.
struct Extreme {
  std::string name, of;
  bool highest = true;
};
const std::vector<Extreme>& extremes();

/// The files of experiment streams, each record of a day (setup.records) or of a step (setup.steps):
/// "means" of all fields, "instants" of those without levels, "extremes". content: of the workload.
std::vector<RunFile> stream_files(const Setup& setup, const Content& content);
inline std::int64_t steps_of_day(const Setup& setup) {
  return setup.steps / setup.records;
}

}  // namespace shoal::bench
