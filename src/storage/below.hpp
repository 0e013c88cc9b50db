// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace shoal {

/// Is a path, by its text, in a folder, in one below it, or the folder itself? Both from the root. Local.
bool is_below(const std::string& path, const std::string& folder);

/// The reason why a path is not below a folder: it lies elsewhere, or it, or a folder on the way to it, is a
/// link. "": it is below. For settings of a file that may name paths below its own folder alone. Local.
std::string why_not_below(const std::string& path, const std::string& folder);

}  // namespace shoal
