// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// What bench-interfaces writes: fields of floats, as one rank has them.
namespace shoal::bench::interfaces {

/// How fields are cut: levels x (a box, or a list of cells, of the shape).
struct Cut {
  std::vector<std::int64_t> shape;         ///< global, without levels
  std::int64_t levels = 0;                 ///< 0: the fields have no such dimension
  std::vector<std::int64_t> first, count;  ///< the box; empty: a list
  std::vector<std::int64_t> cells;         ///< the list, from 0, ascending
  std::vector<float> values = {};          ///< contiguous, levels first

  bool is_box() const { return !count.empty(); }
  std::int64_t local_cells() const;                ///< of this rank, on one level
  std::vector<std::int64_t> lengths() const;       ///< global, levels included
  std::vector<std::int64_t> extents() const;       ///< of the array
  std::vector<std::int64_t> cells_of_all() const;  ///< of all levels, from 0, in the order of the array
};

struct Case {
  std::string name, summary;
  std::vector<Cut> cuts;
  std::vector<int> fields;  ///< the cut of each
  int records = 1;
};

/// Those that are written, by name: large, lists, small. toy: tiny ones, to try it. std::invalid_argument if
/// there is none. Local.
Case make_case(const std::string& name, bool toy, int rank, int ranks);

/// The even box of a rank: rows of the first dimension of the shape.
Cut box_of(const std::vector<std::int64_t>& shape, std::int64_t levels, int rank, int ranks);

/// The even box of a rank: columns of the second dimension of the shape, so that rows of the file are of all
/// ranks.
Cut columns_box_of(const std::vector<std::int64_t>& shape, std::int64_t levels, int rank, int ranks);

/// Gives each cell its value.
void fill(Cut& cut);

}  // namespace shoal::bench::interfaces
