// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "driver/driver.hpp"

namespace shoal {

/// Moves of so many bytes or more are announced to the user (FileOptions::announce).
inline constexpr std::int64_t k_much_to_move = std::int64_t{1} << 30;

/// Copies the data of a classic file, which is committed, to a new file whose definitions have no room in the
/// old one (Driver::has_place): each rank copies an even part, a megabyte at a time. Returns the bytes
/// copied; the device has them then. The old file stays as it is. Error on all ranks alike: the definitions
/// cannot be, or the device has no room for both files, before anything is copied; or a copy fails. The new
/// file then stays as far as it was made. Collective.
std::int64_t move_data(const Comm& comm, const std::string& from, const std::string& to, const Schema& wanted,
                       const DriverOptions& options);

}  // namespace shoal
