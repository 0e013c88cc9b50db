// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace shoal {

/// Removes the temporary files beside the path (temporary_name) that killed jobs left, with their header
/// files: those of this user that no process has locked and that were not written to for a day, as a file
/// system may have no locks, and a model may write once a year of its own. A file that cannot be removed
/// stays. Local.
void remove_files_left_beside(const std::string& path) noexcept;

}  // namespace shoal
