// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tune/measure.hpp"

namespace shoal {

/// What was found, and what Shoal would set, in lines for people. Local.
std::string text_of(const Measured& measured, const MachineFigures& figures);

}  // namespace shoal
