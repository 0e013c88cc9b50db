// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {

/// Words of text, separated by blanks, tabs, newlines or commas.
std::vector<std::string> words(std::string_view text);
/// Names, separated like words. One in double quotes may have blanks and commas, and \" and \\ for quotes and
/// backslashes; a name in NetCDF does not begin with a quote. Error(invalid_argument).
std::vector<std::string> names_in(std::string_view text);
/// Text without blanks at both ends.
std::string trimmed(std::string_view text);
std::string lower(std::string_view text);
std::string joined(const std::vector<std::string>& parts, std::string_view between);
/// "; did you mean 'temp'?" if one of the names is near, else "; there are: a, b, c" for few names, else "".
std::string did_you_mean(const std::string& name, const std::vector<std::string>& names);
/// "268435456", "256MiB", "1.5 GB", "64k" (1024) as bytes; throws Error(setting).
std::int64_t parse_bytes(const std::string& text);
/// "256.0 MiB".
std::string bytes_text(double bytes);

}  // namespace shoal
