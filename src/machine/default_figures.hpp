// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "machine/figures.hpp"

namespace shoal {

/// The default figures of a kind of file system (FileSystem::type) on which a write of one node costs other
/// nodes their locks, or a request to a server. Drivers choose by them until `shoal tune` has measured. Rates
/// are rough; what counts is how they compare. stripe_count: of the file; 0: not known, 65535: all targets.
/// known: whether Shoal knows the kind (FileSystem::sharing). Nothing for kinds on which nodes do not disturb
/// each other. Local.
std::optional<MachineFigures> default_figures(const std::string& type, std::int64_t stripe_count,
                                              bool known = true);

/// Completes measured figures that lack what nodes do to each other (know_nodes): the missing tables are the
/// default ones, if there are some, at the rate that was measured. Local.
void complete_with_defaults(MachineFigures& measured, const std::optional<MachineFigures>& defaults);

}  // namespace shoal
