// SPDX-License-Identifier: BSD-3-Clause
// The environment, and the order of all sources. Namelist and TOML have files of their own.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "dataset/settings/setting_aliases.hpp"
#include "dataset/settings/settings.hpp"
#include "storage/paths.hpp"
#include "storage/text_file.hpp"

extern "C" char** environ;

namespace shoal {

namespace {

constexpr std::string_view k_prefix = "SHOAL_";

// What module files, Spack and EasyBuild set of every package, to say where it lies.
constexpr std::array k_places = {"ROOT", "DIR",     "HOME",        "PREFIX", "PATH", "BASE",    "VERSION",
                                 "INC",  "INCLUDE", "INCLUDE_DIR", "INCDIR", "LIB",  "LIB_DIR", "LIBDIR",
                                 "BIN",  "LIBRARY", "LIBRARIES",   "MODULE", "DOC"};

// What the drop-in for PIO and the doors read for themselves, and check.
constexpr std::string_view k_of_pio = "SHOAL_PIO_";
constexpr std::array<std::string_view, 3> k_of_doors = {"SHOAL_DOORS", "SHOAL_DOORS_FILES",
                                                        "SHOAL_DOORS_REPORT"};

// Names the configuration of streams; checks it, and stops.
constexpr std::array<std::string_view, 2> k_of_streams = {"SHOAL_STREAMS", "SHOAL_STREAMS_CHECK"};

// Names the settings file, in the place of the one that is looked for.
constexpr const char* k_file = "SHOAL_SETTINGS";

bool is_place(std::string_view name) {
  name.remove_prefix(k_prefix.size());
  return std::find(k_places.begin(), k_places.end(), name) != k_places.end();
}

// A file that is named has the user's word for it; one that is found counts if he may trust it, and not for
// all.
void set_from_settings_file(Settings& settings, const std::string& usual) {
  if (const char* named = std::getenv(k_file); named != nullptr && *named != '\0') {
    set_from_toml(settings, text_of_file(named, k_most_settings_bytes), named, "");
    return;
  }
  const FoundText found = find_text(usual, k_most_settings_bytes);
  if (found.why_not.empty()) {
    if (found.there) set_from_toml(settings, found.text, usual, folder_of(usual));
    return;
  }
  settings.warn(fmt::format("{} is not used: {}; to use it, make it a file of your own, or name it ({}={})",
                            usual, found.why_not, k_file, usual));
}

}  // namespace

std::string variable_of(const std::string& key) {
  std::string name(k_prefix);
  for (const char c : key)
    name += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

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
    if (is_place(name) || name.starts_with(k_of_pio) || name == k_file ||
        std::find(k_of_doors.begin(), k_of_doors.end(), name) != k_of_doors.end() ||
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
  if (!sources.toml.empty()) set_from_settings_file(settings, sources.toml);
  if (!sources.namelist.empty()) set_from_namelist(settings, sources.namelist);
  set_from_environment(settings);
  settings.set_all(argument, "argument");
  return settings;
}

}  // namespace shoal
