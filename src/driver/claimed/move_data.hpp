// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "driver/driver.hpp"

namespace shoal {

/// From so many bytes on that move, it is said before it is done.
inline constexpr std::int64_t k_much_to_move = std::int64_t{1} << 30;

/// The data of a classic file, which is committed, go to a new file with definitions that have no place in it
/// (Driver::has_place): all ranks copy an even part, a megabyte at a time. The device has it all when this
/// returns; the old file stays as it is. How many bytes moved. Error on all ranks alike, before anything is
/// copied where the definitions cannot be or the device has no room for both files; what was made of the new
/// file then stays. Collective.
std::int64_t move_data(const Comm& comm, const std::string& from, const std::string& to, const Schema& wanted,
                       const DriverOptions& options);

}  // namespace shoal
