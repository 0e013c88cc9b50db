// SPDX-License-Identifier: BSD-3-Clause
// Lists of boxes (varn) as few and large boxes. A program lists runs of cells level by level, whose values
// lie one behind the other: runs that go on where the one before ends become one box, and where each level
// has the runs of the first one, a box has a run on all levels.
#ifndef SHOAL_DOORS_PNETCDF_LISTS_HPP
#define SHOAL_DOORS_PNETCDF_LISTS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pnetcdf/file.hpp"

namespace door::pnetcdf {

// A list as the program gave it, and its boxes. Programs give the same list for one variable after the other.
class List {
 public:
  // Of boxes in variables of these dimensions; `counts` nullptr: each has one cell.
  List(const std::vector<int>& dims, bool puts, const door_call& call);

  bool is_of(const std::vector<int>& dims, bool puts, const door_call& call) const;
  // Boxes that are left of it, none of which is empty.
  std::size_t size() const { return left_; }
  std::size_t ndims() const { return dims_.size(); }
  const std::int64_t* start(std::size_t i) const { return box(i); }
  const std::int64_t* count(std::size_t i) const { return box(i) + dims_.size(); }
  // Of all values: the box's first one, and cells from one to the next; nullptr: contiguous.
  std::int64_t first(std::size_t i) const { return first_[i]; }
  const std::int64_t* steps(std::size_t i) const {
    return steps_.empty() ? nullptr : steps_.data() + dims_.size() * i;
  }
  std::int64_t cells() const { return first_[left_]; }
  // One of them, of a variable whose values begin there.
  Box box_of(std::size_t i, const Box& all) const;

 private:
  using Numbers = std::vector<std::int64_t>;
  const std::int64_t* box(std::size_t i) const { return numbers_.data() + 2 * dims_.size() * i; }
  std::int64_t cells_of(std::size_t i) const;
  void drop_empty();
  bool join();
  bool goes_on(const std::int64_t* before, const std::int64_t* next, std::size_t& dim) const;
  bool repeats(std::size_t dim, std::size_t group) const;
  void fold();
  void stretch(const Numbers& groups, const Numbers& apart);

  std::vector<int> dims_;
  bool puts_, counted_;
  Numbers given_;    // of each box: its start, and its count if there are counts
  Numbers numbers_;  // starts and counts of boxes that are left
  std::size_t left_ = 0;
  Numbers first_, steps_;
};

}  // namespace door::pnetcdf

#endif
