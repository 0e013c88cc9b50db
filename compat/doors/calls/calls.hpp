// SPDX-License-Identifier: BSD-3-Clause
// The functions of the table as the door serves them: the file in place of its id, otherwise the same
// arguments and codes.
#ifndef SHOAL_DOORS_CALLS_CALLS_HPP
#define SHOAL_DOORS_CALLS_CALLS_HPP

#include "calls/phases.hpp"

namespace door::serve {

#define DOOR_OF_FILE(ncid, ...) (File & file __VA_OPT__(, ) __VA_ARGS__)
#define SERVED(name, parameters, arguments) int name DOOR_OF_FILE parameters;
#define MAKES(name, parameters, arguments) int name parameters;
#define TWO_FILES(name, parameters, arguments) int name parameters;
#define OF_TYPE(name, parameters, arguments)
#include "front/functions.def"

}  // namespace door::serve

#endif
