// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace shoal {

/// Removes what jobs that were killed left beside the path: new files (name_beside) that never took its name,
/// with their header files. Gone are those of this user that nobody has locked and nobody wrote to for a day:
/// a file system may have no locks, and a model may write once a year of its own. What cannot be removed
/// stays. Local.
void remove_files_left_beside(const std::string& path) noexcept;

}  // namespace shoal
