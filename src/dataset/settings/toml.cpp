// SPDX-License-Identifier: BSD-3-Clause
// Reads shoal.toml: the table [shoal], or the top level if there is no such table.
#include <string>

#include "base/error.hpp"
#include "base/toml_text.hpp"
#include "dataset/settings/settings.hpp"

#if SHOAL_HAS_TOML

namespace shoal {

void set_from_toml(Settings& settings, const std::string& text, const std::string& path,
                   const std::string& below) {
  try {
    const toml::table document = parse_toml(text, path);
    const toml::table* table = document["shoal"].as_table();
    if (table == nullptr) table = &document;
    for (const auto& [key, node] : *table) {
      const std::string name(key.str());
      settings.set(name, toml_value(node, name), path, below);
    }
  } catch (const Error& e) {
    throw e.in_file(path);
  }
}

}  // namespace shoal

#else

namespace shoal {

void set_from_toml(Settings&, const std::string&, const std::string& path, const std::string&) {
  throw Error(Code::setting,
              "this build of Shoal cannot read TOML (toml++ was not there when it was built); use SHOAL_* "
              "variables or "
              "arguments, and move the file away")
      .in_file(path);
}

}  // namespace shoal

#endif
