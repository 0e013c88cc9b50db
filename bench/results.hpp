// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "options.hpp"
#include "phases.hpp"

namespace shoal::bench {

/// One run of one method: a write or a read.
struct Result {
  std::string operation;  ///< "write", "read" or "define"
  MethodChoice method;
  std::string format;
  int repetition = 0;      ///< 0: warming up, not counted
  std::int64_t bytes = 0;  ///< of values
  std::int64_t wrong = 0;  ///< cells or definitions that the check found wrong
  Phases phases;           ///< slowest rank of each
  std::int64_t stage_bytes = 0;
  std::int64_t peak_rss_bytes = 0;   ///< of the node with the most, shared memory once
  std::int64_t added_rss_bytes = 0;  ///< of it, what the run added to what was there before
};

/// What is the same for all results.
struct Setup {
  Options options;
  Grid grid;
  Tiling tiling;
  int ranks = 1;
  std::int64_t records = 0;
  std::string file_system;
  std::vector<std::pair<std::string, std::string>> versions;
};

/// Versions of everything that takes part.
std::vector<std::pair<std::string, std::string>> versions(const std::string& label);

/// The list of objects of a file of results: the repetitions that count, and those with something wrong.
std::string json_of(const Setup& setup, const std::vector<Result>& results);
/// Minimum, median and maximum of each method, and how it stands to limit.
std::string table_of(const Setup& setup, const std::vector<Result>& results);

/// Middle value; of an even number, the mean of the two in the middle.
double median(std::vector<double> values);

}  // namespace shoal::bench
