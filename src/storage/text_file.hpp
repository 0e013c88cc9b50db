// SPDX-License-Identifier: BSD-3-Clause
// Text files that users write, and their trusted owners (docs/settings.md, "Whose files count").
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace shoal {

/// Settings and figures of a machine have no more bytes.
inline constexpr std::uint64_t k_most_settings_bytes = std::uint64_t{1} << 20;
/// What belongs to a program has no more: its namelist, its configuration of streams.
inline constexpr std::uint64_t k_most_input_bytes = std::uint64_t{1} << 24;

/// The text of a file that a user named. It is a regular file or a link to one: nothing else is opened, as a
/// FIFO waits for a writer, and a device has no end. Error(not_found, permission, setting), with the path
/// as file: it is not there, is of another kind or larger. Local.
std::string text_of_file(const std::string& path, std::uint64_t most);

/// A file that is looked for in the folder where a program runs.
struct FoundText {
  bool there = false;
  std::string text;
  std::string why_not;  ///< it is there and does not count: "it belongs to user 1001"
};
/// As text_of_file, but errors come as why_not; and the file counts only if the user of the program may trust
/// it: the file, and the link to it if the path is one. Local.
FoundText find_text(const std::string& path, std::uint64_t most);

/// Writes a text behind the text of the file (append), or in its place. careful, for files that no user
/// named: only to a regular one, and through no link. False: it could not be written whole. Local.
bool write_text_file(const std::string& path, const std::string& text, bool append, bool careful);

/// Why a file of this owner and mode is not trusted by a user; "": it is. The owner is the user or root, and
/// others than owner and group may not write to it. A group may: umask 002 is common in shared folders, and
/// the owner of a file chose its group.
std::string why_not_trusted(uid_t owner, mode_t mode, uid_t user);

}  // namespace shoal
