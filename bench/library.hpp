// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// What the library says of itself. All Local.
namespace shoal::bench {

/// A driver of Shoal; formats and accesses by name.
struct LibraryDriver {
  std::string name;
  std::vector<std::string> formats, accesses;
  bool built = false;
};
const std::vector<LibraryDriver>& library_drivers();
/// The names of all formats.
const std::vector<std::string>& library_formats();
/// The default of a setting that is a number of bytes.
std::int64_t default_bytes(const std::string& setting);

}  // namespace shoal::bench
