// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace shoal {

/// Syncs the directory of a path (fsync), so that a name in it outlives a loss of power. Does nothing on
/// systems that cannot sync directories. Local.
void sync_directory_of(const std::string& path);

/// Syncs the bytes of a file. Local.
void sync_file(const std::string& path);

}  // namespace shoal
