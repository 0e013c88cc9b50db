// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace shoal {

/// A name in the same folder that nobody can foresee and no file has: ".NAME.0123456789abcdef.tmp". Whoever
/// makes a file of it does so exclusively, so that nothing that was put there meanwhile is written. Local.
std::string name_beside(const std::string& path);
/// Did name_beside make this name for a file of the path, in the path's folder? name: without folder.
bool is_name_beside(const std::string& name, const std::string& path);
/// Did it make this path, for whatever file?
bool is_name_beside(const std::string& path);

/// The lock file of the path (NameLock), whose name all know: ".NAME.new.tmp". Local.
std::string meeting_name_beside(const std::string& path);

/// A name in the same folder for a file that is whole and cannot have its own: "NAME.kept.0123456789abcdef".
/// Nobody takes it for what a killed job left. Local.
std::string name_to_keep(const std::string& path);

/// So that a name in the folder of the path outlives a loss of power. Systems that cannot sync folders do
/// without. Local.
void sync_folder_of(const std::string& path);

/// The folder of a path; "." if it names none. Local.
std::string folder_of(const std::string& path);

}  // namespace shoal
