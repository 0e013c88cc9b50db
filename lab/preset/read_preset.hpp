// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "model/parameters.hpp"

namespace shoal::lab {

/// Parameters from the text of a TOML file, `name` in messages. Tables are [servers], [network], [striping],
/// [locks], [cache], [metadata] and [faults], keys the names of parameters.hpp; numbers of bytes may be text,
/// "4 MiB". `changes` are more lines of TOML, "servers.number = 16", which replace what the file has. Error
/// std::invalid_argument: the place, the key, and what is allowed there.
Parameters read_preset(const std::string& text, const std::string& name,
                       const std::vector<std::string>& changes = {});

}  // namespace shoal::lab
