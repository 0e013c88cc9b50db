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
  // Of a variable; where their values begin, and steps from one to the next, are numbers of cells.
  const std::vector<Box>& boxes() const { return boxes_; }

 private:
  using Numbers = std::vector<std::int64_t>;
  const std::int64_t* box(std::size_t i) const { return numbers_.data() + 2 * dims_.size() * i; }
  std::int64_t cells(std::size_t i) const;
  void drop_empty();
  bool join();
  bool goes_on(const std::int64_t* before, const std::int64_t* next, std::size_t& dim) const;
  bool repeats(std::size_t dim, std::size_t group) const;
  void fold();

  std::vector<int> dims_;
  bool puts_, counted_;
  Numbers given_;    // of each box: its start, and its count if there are counts
  Numbers numbers_;  // starts and counts of boxes that are left
  std::size_t left_ = 0;
  Numbers groups_;  // of each dimension: as often do the boxes that are left come, along it; 1: once
  Numbers steps_;   // and so many cells apart
  std::vector<Box> boxes_;
};

}  // namespace door::pnetcdf

#endif
