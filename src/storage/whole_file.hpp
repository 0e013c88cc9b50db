// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace shoal {

/// The text of a small file; nothing if there is no such file. more_than: files with more bytes are an
/// Error(format). Local.
std::optional<std::string> read_whole_file(const std::string& path, std::uint64_t more_than);

/// The file holds the text afterwards, or, if this fails or the process is killed, what it held before: it is
/// made anew and takes the other's place (Replacement). durable: the device has it too. Local.
void replace_whole_file(const std::string& path, const std::string& text, bool durable);

}  // namespace shoal
