// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "base/bytes.hpp"
#include "format/schema.hpp"

namespace shoal::reference {

/// Text in double quotes. Braces are escaped too, since readers of references take "{{" for a template; bytes
/// that are not UTF-8 count as Latin-1.
std::string json_string(const std::string& text);
/// One number of the type at p; NaN, Infinity and -Infinity as Zarr's readers take them in attributes, quoted
/// where a fill value stands.
std::string number(Type type, const std::byte* p, bool quote_special);
/// The value of an attribute: a text, a number, or a list.
std::string json_value(const Attribute& attribute);
std::string base64(const std::byte* bytes, std::size_t n);

}  // namespace shoal::reference
