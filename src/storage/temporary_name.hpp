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

/// The name of a temporary file in the folder of the path, the same for all processes: ".NAME.new.tmp".
/// Local.
std::string shared_temporary_name(const std::string& path);

}  // namespace shoal
