// SPDX-License-Identifier: BSD-3-Clause
// The one function that all calls on values come to.
#ifndef SHOAL_DOORS_DATA_MOVE_HPP
#define SHOAL_DOORS_DATA_MOVE_HPP

#include "data/selection.hpp"

namespace door {

// Puts or gets the cells of a selection, from or to `values`, which are of the type `memory` (NC_NAT: the
// variable's) and lie as imap says, otherwise one after the other. Returns netCDF's code; NC_ERANGE: all
// values that fit were moved. Collective or of this rank alone, as the variable's access says; a rank whose
// arguments are wrong takes part with nothing where ranks may wait for it.
int move(File& file, int varid, const Selection& selection, nc_type memory, void* values,
         Direction direction);

}  // namespace door

#endif
