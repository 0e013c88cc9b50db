// SPDX-License-Identifier: BSD-3-Clause
// What became of each file: lines of text in the file that SHOAL_DOORS_REPORT names, by one rank.
#ifndef SHOAL_DOORS_HANDBACK_REPORT_HPP
#define SHOAL_DOORS_HANDBACK_REPORT_HPP

#include <string>

#include "file/file.hpp"

namespace door {

void note_served(const File& file);
void note_handed_back(const File& file, const std::string& reason);
// A file that the library has opened or made itself.
void note_not_served(MPI_Comm comm, const char* path, const std::string& reason);

}  // namespace door

#endif
