// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "content.hpp"

namespace shoal::bench {

/// Spoils one byte of one value of a dataset in one file or several: the first cell, in the last record, of
/// the last distributed field, in the first file that has cells of it. tile: of a rank that has cells. bare:
/// the file is values alone, with no header to tell where, and begins with that rank's. std::runtime_error if
/// the value is not found. Local.
void plant_error(const std::string& path, const Content& content, std::int64_t records, const Tile& tile,
                 bool bare);

}  // namespace shoal::bench
