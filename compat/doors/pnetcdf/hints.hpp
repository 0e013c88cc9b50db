// SPDX-License-Identifier: BSD-3-Clause
// Hints: those of the program, and of PnetCDF's variables in the environment, which go before them.
#ifndef SHOAL_DOORS_PNETCDF_HINTS_HPP
#define SHOAL_DOORS_PNETCDF_HINTS_HPP

#include <mpi.h>

#include <string>

namespace door::pnetcdf {

// The program's hints and those of PNETCDF_HINTS. To free, if it is not MPI_INFO_NULL.
MPI_Info hints_of(MPI_Info given);
// What PnetCDF tells of a file: the hints of the file, and its own ones that are not among them. To free.
// Alignments are known when a define mode has `ended`.
MPI_Info told_hints(MPI_Info of_file, bool ended);

// Why PnetCDF's own work is asked for, which Shoal has not; nullptr: it is not.
const char* own_work(MPI_Info hints);
// PNETCDF_RELAX_COORD_BOUND=0
bool is_strict();

}  // namespace door::pnetcdf

#endif
