// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace shoal {

/// Removes temporary files and folders beside the path (temporary_name) that killed jobs left, with header
/// files, and the lock file of the name: files of this user that no process has locked and that were not
/// written to for a day, as a file system may have no locks, and a model may write once in a simulated year.
/// A file that cannot be removed stays. Reads the whole directory. Local.
void remove_files_left_beside(const std::string& path) noexcept;

/// Removes one such file, with its header file; at_once: however old it is. False: one of the two is still
/// there. Local.
bool remove_file_left(const std::string& file, bool at_once) noexcept;

/// The header file that a file may have, as raw and ascii files do. Local.
std::string header_path(const std::string& file);

}  // namespace shoal
