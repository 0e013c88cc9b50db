// SPDX-License-Identifier: BSD-3-Clause
// toml++, included by the files that read or write TOML.
#pragma once

#include <string>

#define TOML_HEADER_ONLY 1
// It asserts, and without assertions takes for granted, what any text may break ("[?"); it finds it by itself
// when it goes on.
#define TOML_ASSERT(expression) static_cast<void>(0)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace shoal {

/// A text that is not trusted. Error(setting): "line 3: ...".
toml::table parse_toml(const std::string& text, const std::string& path);
/// A value of a setting as text. Error(setting): neither text nor a number nor true or false.
std::string toml_value(const toml::node& node, const std::string& key);

}  // namespace shoal
