// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace shoal {

/// Why a file of this path may not be written for one who has a say below a folder alone: it is elsewhere, or
/// something on the way from the folder to it, itself too, is a link. "": it may. Local.
std::string why_not_below(const std::string& path, const std::string& folder);

}  // namespace shoal
