// SPDX-License-Identifier: BSD-3-Clause
// Which cells of a variable a call asks for, by netCDF's rules.
#ifndef SHOAL_DOORS_DATA_SELECTION_HPP
#define SHOAL_DOORS_DATA_SELECTION_HPP

#include <cstddef>

#include "data/engine.hpp"

namespace door {

// As the program gives it; what is nullptr is not given.
struct Selection {
  enum class Form { whole, one, section } form = Form::section;
  const std::size_t* start = nullptr;
  const std::size_t* count = nullptr;
  const std::ptrdiff_t* stride = nullptr;
  const std::ptrdiff_t* imap = nullptr;  // values of memory from one cell to the next
};

// The box of a selection, without where it lies in memory; NC_EINVALCOORDS, NC_EEDGE, NC_ESTRIDE,
// NC_ECANTEXTEND.
int select_cells(const File& file, const Variable& var, const Selection& selection, Direction direction,
                 Box& box);
std::size_t cells_of(const Box& box);

}  // namespace door

#endif
