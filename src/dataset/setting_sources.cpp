// SPDX-License-Identifier: BSD-3-Clause
// The environment, and the order of all sources. Namelist and TOML have files of their own.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "dataset/setting_aliases.hpp"
#include "dataset/settings.hpp"

namespace shoal {

namespace {

constexpr std::string_view k_prefix = "SHOAL_";

// What module files, Spack and EasyBuild set of every package, to say where it lies.
constexpr std::array k_places = {"ROOT", "DIR",     "HOME",        "PREFIX", "PATH", "BASE",    "VERSION",
                                 "INC",  "INCLUDE", "INCLUDE_DIR", "INCDIR", "LIB",  "LIB_DIR", "LIBDIR",
                                 "BIN",  "LIBRARY", "LIBRARIES",   "MODULE", "DOC"};

// What the drop-in for PIO reads for itself, and checks.
constexpr std::string_view k_of_pio = "SHOAL_PIO_";

// Names the configuration of streams; checks it, and stops.
constexpr std::array<std::string_view, 2> k_of_streams = {"SHOAL_STREAMS", "SHOAL_STREAMS_CHECK"};

bool is_place(std::string_view name) {
  name.remove_prefix(k_prefix.size());
  return std::find(k_places.begin(), k_places.end(), name) != k_places.end();
}

std::string variable_of(const char* key) {
  std::string name(k_prefix);
  for (const char* c = key; *c != '\0'; ++c)
    name += static_cast<char>(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
  return name;
}

}  // namespace

void set_from_environment(Settings& settings) {
  std::vector<const char*> keys;
  for (const auto& key : setting_keys())
    keys.push_back(key.name);
  for (const auto& alias : setting_aliases())
    keys.push_back(alias.old_name);
  std::vector<std::string> known;
  for (const char* key : keys)
    known.push_back(variable_of(key));
  std::map<std::size_t, std::string, std::greater<>> values;  // old names first: today's have the last word
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (!text.starts_with(k_prefix) || equals == std::string_view::npos) continue;
    const std::string name(text.substr(0, equals));
    if (is_place(name) || name.starts_with(k_of_pio) ||
        std::find(k_of_streams.begin(), k_of_streams.end(), name) != k_of_streams.end())
      continue;
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end())
      throw Error(Code::setting, "the environment variable {} is no setting of Shoal{}; unset it", name,
                  did_you_mean(name, known));
    values[static_cast<std::size_t>(found - known.begin())] = text.substr(equals + 1);
  }
  for (const auto& [i, value] : values)
    settings.set(keys[i], value, known[i]);
}

Settings resolve_settings(const std::string& argument, const SettingSources& sources) {
  Settings settings;
  std::error_code ignored;
  if (!sources.toml.empty() && std::filesystem::exists(sources.toml, ignored))
    set_from_toml(settings, sources.toml);
  if (!sources.namelist.empty()) set_from_namelist(settings, sources.namelist);
  set_from_environment(settings);
  settings.set_all(argument, "argument");
  return settings;
}

}  // namespace shoal
