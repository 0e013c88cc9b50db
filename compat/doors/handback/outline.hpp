// SPDX-License-Identifier: BSD-3-Clause
// What a file has, in the order of its numbers, as one text: two that number it alike have the same.
#ifndef SHOAL_DOORS_HANDBACK_OUTLINE_HPP
#define SHOAL_DOORS_HANDBACK_OUTLINE_HPP

#include <string>

#include "file/file.hpp"

namespace door {

std::string outline_of(const File& file);
// Of a file that the library has open; "" where it has groups, types of its own, or cannot be asked.
std::string outline_of(const door_functions& library, int ncid);

}  // namespace door

#endif
