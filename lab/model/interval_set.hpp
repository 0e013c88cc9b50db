// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "model/units.hpp"

namespace shoal::lab {

/// A set of bytes, kept as extents that do not touch.
class IntervalSet {
 public:
  void add(Extent extent);
  void remove(Extent extent);
  void clear();

  bool empty() const { return extents_.empty(); }
  std::int64_t bytes() const { return bytes_; }
  bool covers(Extent extent) const;
  bool meets(Extent extent) const { return !parts(extent).empty(); }
  /// What of `extent` is in the set; what is not.
  std::vector<Extent> parts(Extent extent) const;
  std::vector<Extent> gaps(Extent extent) const;
  /// The set's extents that have a byte of `extent`, whole.
  std::vector<Extent> touched(Extent extent) const;
  std::vector<Extent> all() const;
  /// The largest end that is at most `at`; the smallest begin that is at least `at`.
  std::optional<std::int64_t> last_end(std::int64_t at) const;
  std::optional<std::int64_t> next_begin(std::int64_t at) const;

 private:
  std::map<std::int64_t, std::int64_t>::const_iterator first_touched(std::int64_t begin) const;

  std::map<std::int64_t, std::int64_t> extents_;  ///< begin, end
  std::int64_t bytes_ = 0;
};

}  // namespace shoal::lab
