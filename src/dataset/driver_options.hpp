// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "dataset/settings.hpp"
#include "driver/driver.hpp"

namespace shoal {

/// What the setting fill says. Local.
FillMode fill_mode_of(const Settings& settings);

/// What settings say to drivers. Error(setting): two of them that contradict each other. Local.
DriverOptions driver_options_of(const Settings& settings);

}  // namespace shoal
