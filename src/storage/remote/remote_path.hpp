// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace shoal {

/// Does a path name an object of a server? By its text alone. Local.
bool is_remote(const std::string& path);

/// A path as it may be shown: a URL without user, password, query and fragment, which may be secret.
std::string shown_path(const std::string& path);

}  // namespace shoal
