// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/box.hpp"
#include "format/schema.hpp"

namespace shoal {

/// Which record a variable is written in next (SHOAL_NEXT): that of the step which was begun; without one the
/// last, if it was begun by this dataset and the variable is not in it, otherwise the one after the last. The
/// same on all ranks that made the same calls. Local.
class NextRecords {
 public:
  /// All records of the schema are whole, and no step is begun: none of them is next.
  void start(const Schema& schema);
  /// All records of the variable were put: their number is rank 0's alone, until start or settle.
  void lose(int variable) { unknown_.insert(variable); }
  /// Ranks have the same lengths again.
  void settle(const Schema& schema);
  /// Error(state) after lose().
  void check_known() const;
  /// From now on the record after the last one is next, for all variables of the file's record dimension. Its
  /// index. Error(invalid_argument): there is no such dimension, or several; Error(state) after lose().
  std::int64_t begin_step(const Schema& schema);
  /// Index of the record, of a variable with a record dimension. Error(state) after lose().
  std::int64_t of(const Schema& schema, int variable) const;
  /// The region is written, or put.
  void note(const Schema& schema, int variable, const Box& region);

 private:
  std::vector<std::int64_t> whole_;   // length of each dimension at the start
  std::map<int, std::int64_t> last_;  // record that a variable was written in since, the latest
  std::set<int> unknown_;             // variables of which all records were put
  struct Step {
    int dim;
    std::int64_t record;
  };
  std::optional<Step> step_;
};

/// The unlimited dimension that variables have in front, -1: there is none. Error(invalid_argument) with
/// their names where there are several.
int record_dim_of(const Schema& schema);

}  // namespace shoal
