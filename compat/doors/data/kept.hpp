// SPDX-License-Identifier: BSD-3-Clause
// Records that a rank adds alone to a classic file. Shoal takes new records of all ranks together, so the
// rank keeps them in memory until ranks meet: in nc_sync, nc_close, nc_var_par_access and at the end of a
// define mode.
#ifndef SHOAL_DOORS_DATA_KEPT_HPP
#define SHOAL_DOORS_DATA_KEPT_HPP

#include "data/engine.hpp"

namespace door {

// Must cells that this rank moves alone wait, or be looked for among those that do? Local.
bool meets_kept(const File& file, const Variable& var, int varid, const Box& box);
// Keeps values of the variable's type, one after the other. Local.
void keep(File& file, int varid, const Box& box, std::vector<char>&& values);
// Reads into such values, with what is kept. Returns Shoal's code. Local.
int read_over_kept(File& file, int varid, Box& box);
// What ranks kept goes into the file. Returns Shoal's code. Collective, for files to which ranks may add
// records alone; for others nothing.
int write_kept(File& file);

}  // namespace door

#endif
