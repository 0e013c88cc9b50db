// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "codec/packing.hpp"
#include "dataset/settings/settings.hpp"
#include "driver/driver.hpp"

namespace shoal {

/// What one rank counted.
struct RankReport {
  Counters counters;
  Seconds open_seconds = 0;  ///< from opening to now
  std::string host = {};     ///< of the rank
  /// By variable: cells that were no land and hold the fill value, so that readers take them for missing.
  std::map<std::string, std::int64_t> fill_cells = {};
  /// By packed variable: values that did not fit, in place of which the fill value was written.
  std::map<std::string, OutOfRange> out_of_range = {};
};

/// What became of one dataset, of one rank or of all.
struct DatasetReport {
  std::string path;
  std::string format;
  std::string driver;
  int ranks = 1;
  std::vector<RankReport> of_ranks;
  std::vector<RankReport> of_servers = {};  ///< that stored for them (background=ranks)
  std::vector<std::string> filled = {};     ///< variables that got _FillValue as cells of them are left out
  int cores = 0;                            ///< of the machine of rank 0; 0: not known
  std::optional<MachineFigures> machine = {};  ///< that the driver chose by
};

/// What writing to the file took, over all ranks that stored, by the figures of the machine and as it was.
struct StorePrediction {
  Seconds predicted = 0, measured = 0;
  double times() const { return measured / predicted; }
};
/// Nothing where figures say nothing of what was stored: compressed chunks, a limited rate, past the cache.
std::optional<StorePrediction> store_prediction(const DatasetReport& report, const Settings& settings);

/// The node whose ranks spent most time on calls of the system that write (or read), and what those of the
/// median node spent.
struct SlowNode {
  std::string host;
  Seconds seconds = 0, median = 0;
};
/// Nothing where less than two nodes did so, or the first took less than twice as long, or 0.1 s more.
std::optional<SlowNode> slow_node(const DatasetReport& report, Seconds Counters::*seconds,
                                  std::int64_t Counters::*calls);

Bytes packed(const RankReport& report);
RankReport unpack_rank_report(const Bytes& bytes);

/// One JSON object, on one line.
std::string json_of(const DatasetReport& report, const Settings& settings);
/// A few lines for people, the last of them the advice.
std::string table_of(const DatasetReport& report, const Settings& settings);
/// One line in plain words about the figure that costs most, or that there is none.
std::string advice_of(const DatasetReport& report, const Settings& settings);

/// Error if a report could not be written there.
void check_report_path(const std::string& path);
/// Setting report: "-" prints the table on standard error. With %s in the path (the dataset's file name) JSON
/// goes to a file of its own, else it is added to the path, one line a dataset. The table goes beside it,
/// with the ending .txt.
void write_report(const DatasetReport& report, const Settings& settings);

}  // namespace shoal
