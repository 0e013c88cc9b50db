// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace shoal::bench {

/// Members stay in the order in which they were added.
using Json = nlohmann::ordered_json;

/// On one line. Bytes that are not UTF-8, as in names of folders, become U+FFFD.
std::string line_of(const Json& value);

/// std::runtime_error if the file cannot be written.
void write_text(const std::string& path, const std::string& text);

double median(std::vector<double> values);

/// The value with so many decimals: seconds in results have 6.
double rounded(double value, int decimals);

}  // namespace shoal::bench
