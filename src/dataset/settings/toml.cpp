// SPDX-License-Identifier: BSD-3-Clause
// Reads shoal.toml: the table [shoal], or the top level if there is no such table.
#include <string>

#include "base/error.hpp"
#include "base/toml_text.hpp"
#include "dataset/settings/settings.hpp"

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
