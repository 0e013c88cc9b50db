// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace shoal {

/// The text of a small file; nothing if there is no such file. Error(format): it has more bytes than
/// more_than. Local.
std::optional<std::string> read_whole_file(const std::string& path, std::uint64_t more_than);

/// Replaces the text of a file (Replacement). Where this fails or the process is killed the file holds what
/// it held before. durable: syncs the new file. Local.
void replace_whole_file(const std::string& path, const std::string& text, bool durable);

}  // namespace shoal
