// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "experiments.hpp"
#include "node.hpp"
#include "options.hpp"
#include "phases.hpp"

namespace shoal::bench {

/// One run of one method: a write or a read, or of a program.
struct Result {
  std::string operation;  ///< "write", "read", "define" or "run"
  MethodChoice method;
  std::string format;
  std::string dir;
  std::string
      cache;         ///< where the bytes were at the end (write) or came from: "page cache", "device", "cold"
  std::string time;  ///< of the start, ISO 8601, UTC
  int repetition = 0;                 ///< 0: warming up, not counted
  std::int64_t bytes = 0;             ///< of values
  std::int64_t files = 0;             ///< that were written, 0 for reads
  std::int64_t file_bytes = 0;        ///< of the files that were written, 0 for reads
  std::int64_t wrong = 0;             ///< cells or definitions that the check found wrong
  Phases phases = {};                 ///< slowest rank of each; user and system: all ranks together
  std::int64_t stage_bytes = 0;       ///< buffers for output, of the node with the most
  std::int64_t peak_rss_bytes = 0;    ///< of the node with the most, shared memory once
  std::int64_t added_rss_bytes = 0;   ///< of it, what the run and its buffers added to what was there before
  std::int64_t rank_added_bytes = 0;  ///< the same of the rank with the most, without what ranks share
};

/// What is the same for all results.
struct Setup {
  Options options;
  Experiment experiment;
  Grid grid;
  Tiling tiling;
  int ranks = 1;
  std::int64_t records = 0;
  std::int64_t sync_every = 0;            ///< records from one sync to the next; 0: none before the end
  std::int64_t steps = 0;                 ///< of a program that computes
  Runs runs;                              ///< of the largest field in a file with all of it
  std::vector<std::string> file_systems;  ///< of each dir
  Machine machine;
  std::string files;  ///< how the names of all files begin
  std::vector<std::pair<std::string, std::string>> versions;
};

/// Versions of everything that takes part; mpi_io: see mpi_io_of().
std::vector<std::pair<std::string, std::string>> versions(const std::string& mpi_io);

/// A result as an object on one line; event: its value of that key, "" for none.
std::string object_of(const Setup& setup, const Result& result, const std::string& event = "");
/// The list of objects of a file of results: the repetitions that count.
std::string json_of(const Setup& setup, const std::vector<Result>& results);
/// Minimum, median and maximum of each method, and how it stands to limit.
std::string table_of(const Setup& setup, const std::vector<Result>& results);

/// Middle value; of an even number, the mean of the two in the middle.

/// Now, "2024-05-06T07:08:09Z".
std::string utc_now();

}  // namespace shoal::bench
