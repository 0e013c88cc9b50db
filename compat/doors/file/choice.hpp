// SPDX-License-Identifier: BSD-3-Clause
// Which files the door takes: what the environment says, and what the call asks for.
#ifndef SHOAL_DOORS_FILE_CHOICE_HPP
#define SHOAL_DOORS_FILE_CHOICE_HPP

#include <string>

#include "front/door.h"

namespace door {

struct Choice {
  bool serve = false;
  bool serve_if_needed = false;  // where the library has no such access: without MPI, or without PnetCDF
  std::string why_not;           // where it does not, for the report; "": as the program's user wants it
  int code = NC_NOERR;           // the environment has a value that is not allowed; it was told
};

// SHOAL_DOORS (write, the default: files that are made or opened to be written; all: also those that are
// opened to read; off) and SHOAL_DOORS_FILES (patterns with commas between, of names without folders).
// Local.
Choice choose(const char* path, int mode, bool makes, MPI_Comm comm);
// NC_FORMAT_... of a file that is made with this mode; the library says what is usual.
int format_of(int mode);

}  // namespace door

#endif
