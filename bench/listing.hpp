// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

// What `shoal-bench list` says.
namespace shoal::bench {

/// For people, several lines.
std::string list_text();
/// For programs, one JSON object.
std::string list_json();

}  // namespace shoal::bench
