// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace shoal {

/// The name of a temporary file in the folder of the path, with a random number:
/// ".NAME.0123456789abcdef.tmp". No file has it; make the file exclusively, as another one may be made
/// meanwhile. Local.
std::string temporary_name(const std::string& path);
/// Is this a name that temporary_name makes for a file of the path? name: without folder.
bool is_temporary_name(const std::string& name, const std::string& path);
/// Is it one for a file of any path?
bool is_temporary_name(const std::string& path);

/// The path of the lock file of a name (NameLock), the same for all processes: ".NAME.new.tmp". Local.
std::string name_lock_path(const std::string& path);

/// A name in the folder of the path, with a random number, for a whole file that cannot take the path:
/// "NAME.kept.0123456789abcdef". No later job removes it. Local.
std::string kept_name(const std::string& path);

}  // namespace shoal
