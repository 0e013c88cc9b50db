// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "format/schema.hpp"

namespace shoal {

/// What was written of distributed variables in the classic formats, where a record is there for all
/// variables as soon as it is for one: cells that nobody wrote must get the fill value before the record
/// counts. Every rank keeps the same notes.
class RecordFillTracker {
 public:
  /// every_variable: replicated ones too, where no catalog fills these.
  explicit RecordFillTracker(bool every_variable = false) : every_variable_(every_variable) {}

  /// Everything that the schema has so far counts as written.
  void start(const Schema& schema);
  /// Variables behind those known are new and empty.
  void add_variables(const Schema& schema);
  /// The region of the variable (all its dimensions) was written.
  void touch(const Schema& schema, int variable, const Box& region);

  /// Records beyond those of the schema never were.
  void cut(const Schema& schema);

  struct Gap {
    int variable = 0;
    Box cells;
  };
  /// Boxes of variables with a fill value that were never written, up to the current number of records. They
  /// count as written from now on.
  std::vector<Gap> take_gaps(const Schema& schema);
  /// Those within a box of one variable; they stay gaps.
  std::vector<Box> gaps_in(const Schema& schema, int variable, const Box& box) const;

 private:
  struct Notes {
    std::int64_t all_below = 0;                       ///< records below this one are complete
    std::map<std::int64_t, std::vector<Box>> partly;  ///< what was written of later records
  };
  std::vector<Notes> variables_;
  bool every_variable_;
};

}  // namespace shoal
