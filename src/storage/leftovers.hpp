// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace shoal {

/// Removes what jobs that were killed left beside the path: new files (name_beside) that never took its name,
/// with their header files, and the lock file of the name. Gone are those of this user that nobody has locked
/// and nobody wrote to for a day: a file system may have no locks, and a model may write once a year of its
/// own. What cannot be removed stays. Looks at the whole folder. Local.
void remove_files_left_beside(const std::string& path) noexcept;

/// The same of one such file, with its header file; at_once: however old it is. False: one of them is still
/// there. Local.
bool remove_file_left(const std::string& file, bool at_once) noexcept;

/// The header file that a file may have. Local.
std::string header_of_file_left(const std::string& file);

}  // namespace shoal
