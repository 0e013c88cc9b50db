// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace shoal {

/// The text of a small file; nothing if there is no such file. Error(format): it has more bytes than
/// more_than. Local.
std::optional<std::string> read_whole_file(const std::string& path, std::uint64_t more_than);

/// Makes a file, which must not exist, of a text. durable: syncs it. Local.
void write_whole_file(const std::string& path, const std::string& text, bool durable);

}  // namespace shoal
