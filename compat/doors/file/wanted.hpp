// SPDX-License-Identifier: BSD-3-Clause
// What the environment says of files: SHOAL_DOORS and SHOAL_DOORS_FILES.
#ifndef SHOAL_DOORS_FILE_WANTED_HPP
#define SHOAL_DOORS_FILE_WANTED_HPP

#include <mpi.h>

namespace door {

// Shall a file be served that is made, or opened to be written (`writes`), or opened to be read? SHOAL_DOORS:
// write, the default, off or all, also those that are read. SHOAL_DOORS_FILES: patterns with commas between,
// of names without folders. A value that is not allowed is told, and `code` is set. Local.
bool is_wanted(const char* path, bool writes, MPI_Comm comm, int& code);

}  // namespace door

#endif
