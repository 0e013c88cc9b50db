// SPDX-License-Identifier: BSD-3-Clause
#ifndef SHOAL_DOORS_HANDBACK_HANDBACK_HPP
#define SHOAL_DOORS_HANDBACK_HANDBACK_HPP

#include <string>

#include "file/file.hpp"

namespace door {

// A file goes to the program's own library: what was defined is defined there in the same order, so that
// numbers of dimensions and variables are the same; a file that Shoal has written is closed, and opened
// there. `reason` is for the report. The library's code where that cannot be done; the file then has it for
// all that follows. Collective.
int hand_back(File& file, const std::string& reason);

}  // namespace door

#endif
