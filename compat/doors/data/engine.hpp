// SPDX-License-Identifier: BSD-3-Clause
// Shoal's calls that move boxes of cells, as the door makes them.
#ifndef SHOAL_DOORS_DATA_ENGINE_HPP
#define SHOAL_DOORS_DATA_ENGINE_HPP

#include <cstdint>
#include <vector>

#include "file/file.hpp"

namespace door {

// A box of a variable, and where its cells lie in memory: `values` is the cell with all indices 0, `steps`
// are bytes from one cell to the next (empty: contiguous), `type` is netCDF's number of theirs.
struct Box {
  std::vector<std::int64_t> start, count, stride;
  std::vector<std::int64_t> steps;
  void* values = nullptr;
  nc_type type = NC_NAT;
};

enum class Direction { put, get };

// The box as Shoal is asked for it; it points into `box`.
shoal_box as_shoal(const File& file, int varid, const Box& box);

// Moves a box; nullptr: none, of a rank that takes part with nothing. Collective or of this rank alone, as
// the variable's access says. Returns Shoal's code.
int move_box(File& file, int varid, const Box* box, Direction direction);
// netCDF's code for it; the message goes to standard error.
int code_of_move(const File& file, Direction direction, int code);

}  // namespace door

#endif
