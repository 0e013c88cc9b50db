// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "content.hpp"

namespace shoal::bench {

/// Spoils one byte of one value of a dataset in one file or several: the first cell, in the last record, of
/// the last distributed field, in the first file that has cells of it. tile: of a rank that has cells. bare:
/// the file is values alone, with no header to say where, and begins with that rank's. std::runtime_error if
/// the value is not found. Local.
void inject_error(const std::string& path, const Content& content, std::int64_t records, const Tile& tile,
                  bool bare);

/// The same where the workload does not give the values: of the first of these ones, which follow one another
/// in a file of the dataset, size bytes each, in this machine's byte order. Not for text.
void inject_error_in(const std::string& path, const std::vector<std::byte>& values, std::int64_t size);

}  // namespace shoal::bench
