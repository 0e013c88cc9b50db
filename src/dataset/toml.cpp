// SPDX-License-Identifier: BSD-3-Clause
// Reads shoal.toml: the table [shoal], or the top level if there is no such table.
#include <string>

#include "base/error.hpp"
#include "dataset/settings.hpp"

#if __has_include(<toml++/toml.h>)
#define TOML_HEADER_ONLY 1
// It asserts, and without assertions takes for granted, what any text may break ("[?"); it finds it by itself
// when it goes on.
#define TOML_ASSERT(expression) static_cast<void>(0)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <sstream>

namespace shoal {

namespace {

std::string value_of(const toml::node& node, const std::string& key) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (node.is_boolean() || node.is_integer() || node.is_floating_point()) {
    std::ostringstream out;
    node.visit([&](const auto& value) {
      if constexpr (toml::is_boolean<decltype(value)>)
        out << (value.get() ? "true" : "false");
      else if constexpr (toml::is_number<decltype(value)>)
        out << value.get();
    });
    return out.str();
  }
  throw Error(Code::setting, "the value of '" + key + "' is neither text nor a number nor true or false");
}

}  // namespace

void set_from_toml(Settings& settings, const std::string& path) {
  toml::table document;
  try {
    document = toml::parse_file(path);
  } catch (const toml::parse_error& e) {
    throw Error(Code::setting,
                "line " + std::to_string(e.source().begin.line) + ": " + std::string(e.description()))
        .in_file(path);
  }
  const toml::table* table = document["shoal"].as_table();
  if (table == nullptr) table = &document;
  for (const auto& [key, node] : *table) {
    const std::string name(key.str());
    std::string value;
    try {
      value = value_of(node, name);
    } catch (const Error& e) {
      throw e.in_file(path);
    }
    settings.set(name, value, path);
  }
}

}  // namespace shoal

#else

namespace shoal {

void set_from_toml(Settings&, const std::string& path) {
  throw Error(Code::setting,
              "this build of Shoal cannot read TOML (toml++ was not there when it was built); use SHOAL_* "
              "variables or "
              "arguments, and move the file away")
      .in_file(path);
}

}  // namespace shoal

#endif
