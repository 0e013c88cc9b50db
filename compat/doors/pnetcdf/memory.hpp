// SPDX-License-Identifier: BSD-3-Clause
// The program's memory, as MPI describes it.
#ifndef SHOAL_DOORS_PNETCDF_MEMORY_HPP
#define SHOAL_DOORS_PNETCDF_MEMORY_HPP

#include <mpi.h>
#include <netcdf.h>

#include <cstdint>
#include <vector>

#include "data/cells.hpp"

namespace door::pnetcdf {

// What `bufcount` of a type of MPI hold.
struct Memory {
  nc_type type = NC_NAT;    // of the values
  std::int64_t cells = -1;  // -1: as many as are asked for
  bool packed = false;      // they do not lie one after the other
};

// PnetCDF's code: NC_EUNSPTETYPE, NC_EMULTITYPES, NC_ENEGATIVECNT. MPI_DATATYPE_NULL: the type of the
// variable. Local.
int memory_of(MPI_Offset bufcount, MPI_Datatype buftype, nc_type of_variable, Memory& memory);

}  // namespace door::pnetcdf

#endif
