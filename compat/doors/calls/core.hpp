// SPDX-License-Identifier: BSD-3-Clause
#ifndef SHOAL_DOORS_CALLS_CORE_HPP
#define SHOAL_DOORS_CALLS_CORE_HPP

#include "front/door.h"

namespace door {

// What the front gets: a function for each of the table.
const door_functions& functions();

}  // namespace door

#endif
