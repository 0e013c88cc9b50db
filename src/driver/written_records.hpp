// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/box.hpp"
#include "format/schema.hpp"

namespace shoal {

/// The number of records of each variable that may hold cells (of a variable without records: 1 or 0). Later
/// records have no cells that could be kept. The same on all ranks that made the same calls.
class WrittenRecords {
 public:
  /// Begins with all records of the file.
  void start(const Schema& in_file) {
    had_.clear();
    for (int v = 0; v < static_cast<int>(in_file.variables.size()); ++v)
      had_.push_back(length_of(in_file, v));
    written_.clear();
    lost_ = false;
  }
  std::int64_t of(const Schema& schema, int variable) const {
    if (lost_) return length_of(schema, variable);
    const auto written = written_.find(variable);
    if (written != written_.end()) return written->second;
    const auto v = static_cast<std::size_t>(variable);
    return v < had_.size() ? had_[v] : 0;  // lengths grow with the puts that this rank knows to be good
  }
  /// Notes a write of the region, before the schema's lengths grow.
  void note(const Schema& schema, int variable, const Box& region) {
    const std::int64_t end = schema.has_record(variable) ? region.end(0) : 1;
    if (!lost_) written_[variable] = std::max(of(schema, variable), end);
  }
  /// Notes that this rank does not know what others wrote: until start, any record may hold cells.
  void lose() { lost_ = true; }

 private:
  static std::int64_t length_of(const Schema& schema, int variable) {
    return schema.has_record(variable) ? schema.shape(variable)[0] : 1;
  }

  std::vector<std::int64_t> had_;  ///< of the variables that there were at the start
  std::map<int, std::int64_t> written_;
  bool lost_ = false;
};

/// The part of a region in the first `had` records (of a variable without records: one, or none), and the
/// rest.
inline std::pair<Box, Box> parts_at(const Box& region, std::int64_t had, bool of_records) {
  const Box none(Dims(region.rank()), Dims(region.rank()));
  if (region.empty()) return {none, none};
  if (!of_records) return had > 0 ? std::pair(region, none) : std::pair(none, region);
  const std::int64_t there = std::clamp<std::int64_t>(had - region.first[0], 0, region.count[0]);
  Box before = region, added = region;
  before.count[0] = there;
  added.first[0] += there;
  added.count[0] -= there;
  return {there > 0 ? before : none, added.empty() ? none : added};
}

}  // namespace shoal
