// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// A dataset is one file or a set of them (path.0000, path.0001, ...), and raw and ascii files have a header
// beside each (.json). Everything here is Local.
namespace shoal::bench {

/// The files with values: `path` itself, or else those of the set in the order of their numbers; empty if
/// there are neither.
std::vector<std::string> pieces_of(const std::string& path);

/// All files of a dataset that are there, headers included, also what is left of headers half written; and
/// nothing that only begins with the same name.
std::vector<std::string> files_of(const std::string& path);

/// Removes them all. std::filesystem::filesystem_error if one cannot be removed.
void remove_files(const std::string& path);

/// Bytes of them all.
std::int64_t bytes_of_files(const std::string& path);

}  // namespace shoal::bench
