// SPDX-License-Identifier: BSD-3-Clause
#ifndef SHOAL_DOORS_HANDBACK_LINES_HPP
#define SHOAL_DOORS_HANDBACK_LINES_HPP

#include <mpi.h>

#include <string>

namespace door {

// A line of the report, which SHOAL_DOORS_REPORT names; written by rank 0, where there is a report.
void note_line(MPI_Comm comm, const std::string& line);

}  // namespace door

#endif
