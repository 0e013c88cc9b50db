// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "machine/figures.hpp"

namespace shoal {

/// Figures that are usual for a kind of file system (FileSystem::type) on which a write of one node costs the
/// others their locks, or a request to a server: what to go by before `shoal tune` has measured. Rates are
/// rough, and what is chosen by them is what they say of each other. stripe_count: of the file; 0: not known,
/// 65535: all targets. known: whether Shoal knows the kind (FileSystem::sharing). Nothing for other kinds, on
/// which nodes do not disturb each other. Local.
std::optional<MachineFigures> usual_figures(const std::string& type, std::int64_t stripe_count,
                                            bool known = true);

/// Measured figures that do not know what nodes do to each other (know_nodes) take the tables that lack from
/// the usual ones, if there are some, at the rate that was measured. Local.
void complete_with_usual(MachineFigures& measured, const std::optional<MachineFigures>& usual);

}  // namespace shoal
