// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/numbered.hpp"
#include "base/pack_fields.hpp"
#include "format/schema.hpp"

namespace shoal {

/// The written regions of distributed variables in the classic formats, where a record is there for all
/// variables as soon as it is for one: cells that were not written must get the fill value before the record
/// counts. The same on all ranks that made the same calls.
class RecordFillTracker {
 public:
  /// every_variable: replicated ones too, where no catalog fills them.
  explicit RecordFillTracker(bool every_variable = false) : every_variable_(every_variable) {}

  /// Begins with all records of the schema written.
  void start(const Schema& schema);
  /// Adds the variables that the schema has beyond those known, with nothing written.
  void add_variables(const Schema& schema);
  /// Notes that a region of the variable (in all its dimensions) was written.
  void touch(const Schema& schema, int variable, const Box& region);

  /// Forgets records beyond those of the schema.
  void cut(const Schema& schema);

  struct Gap {
    int variable = 0;
    Box cells;

    template <class Writer>
    void pack(Writer& out) const {
      put_all(out, variable, cells);
    }
    template <class Reader>
    void unpack(Reader& in) {
      get_all(in, variable, cells);
    }
  };
  /// Takes the boxes, of variables with a fill value, that were never written, up to the current number of
  /// records. They count as written from now on.
  std::vector<Gap> take_gaps(const Schema& schema);
  /// Cells that count as written are a gap after all, as they could not be filled.
  void put_back(const Schema& schema, const Gap& gap);
  /// The gaps within a box of one variable; they stay gaps.
  std::vector<Box> gaps_in(const Schema& schema, int variable, const Box& box) const;

 private:
  struct Notes {
    std::int64_t all_below = 0;                       ///< records below this one are complete
    std::map<std::int64_t, std::vector<Box>> partly;  ///< what was written of later records
  };
  Numbered<Notes> variables_;
  bool every_variable_;
};

}  // namespace shoal
