// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "dataset/settings/choices.hpp"

namespace shoal {

/// What a setting is, once for the parser, the listing and the documentation.
struct SettingKey {
  enum class Kind {
    word,
    bytes,
    count,
    seconds,
    number /* or nothing */,
    flag,
    text,
    output /* a path to write */
  };
  enum class Level { basic, expert };
  const char* name;
  Kind kind;
  const char* fallback;  ///< value when nobody sets it
  const char* allowed;   ///< Kind::word: the values there are, blanks between; else in words, for messages
  const char* about;     ///< one line
  bool creation_only;    ///< says how new files are made, and nothing about files that exist
  Level level = Level::expert;
};

/// The environment variable of a setting: "SHOAL_STAGE_BYTES".
std::string variable_of(const std::string& key);

/// Every setting there is, the basic ones first.
std::span<const SettingKey> setting_keys();

/// The same as text: name, level (basic, expert), files (new, all), default, allowed values, what it is
/// about, with tabs between, one a line.
std::string setting_keys_text();

/// Values of all settings of one dataset, and where each came from. Plain data.
class Settings {
 public:
  /// All settings as nobody set them.
  Settings();

  /// Checks key and value. Error(setting): unknown key, with the nearest one; a value that is not allowed,
  /// with those that are. An old name in setting_aliases() sets what it is called now.
  /// below: a path to write is below this folder, with no link on the way; "": it is anywhere.
  void set(const std::string& key, const std::string& value, const std::string& origin,
           const std::string& below = "");
  /// Settings as text "key=value, key=value": commas or newlines between, values with commas in double
  /// quotes. "key?=value" is the program's own default: it counts where no source has set the key before.
  void set_all(const std::string& text, const std::string& origin);

  const std::string& text(const std::string& key) const;
  std::int64_t bytes(const std::string& key) const;
  std::int64_t count(const std::string& key) const;
  double seconds(const std::string& key) const;
  bool flag(const std::string& key) const;
  Choices choices(const std::string& key) const;  ///< of a setting that may differ between variables
  /// "default", "argument", "SHOAL_STAGE_BYTES", "namelist ocean.nml", "shoal.toml", "program's default".
  const std::string& origin(const std::string& key) const;
  bool is_default(const std::string& key) const;
  /// The folder that a path to write must be below; "": any.
  const std::string& below(const std::string& key) const;
  /// Error(setting): the path, which comes of the setting, is not below that folder now. Local.
  void check_below(const std::string& key, const std::string& path) const;

  /// Who reads a file has nothing written for a settings file that nobody named: without it from now on, with
  /// a warning of what would have been.
  void drop_outputs_below();
  /// Of the argument's settings those that say how new files are made are as nobody set them. Local.
  void drop_those_of_new_files();

  /// Old names that were used, files that do not count.
  const std::vector<std::string>& warnings() const { return warnings_; }
  void warn(std::string warning) { warnings_.push_back(std::move(warning)); }

  /// "stage_bytes = 256MiB    # default", one a line; lines "# basic" and "# expert" before those of each
  /// level.
  std::string listing() const;

  void pack(ByteWriter& out) const;
  static Settings unpack(ByteReader& in);

 private:
  struct Value {
    std::string value;
    std::string origin;
    std::string below;
  };
  std::vector<Value> values_;  // in order of setting_keys()
  std::vector<std::string> warnings_;
};

/// Where settings come from beside the argument of a call.
struct SettingSources {
  std::string namelist;             ///< file with a namelist group &shoal; "": none
  std::string toml = "shoal.toml";  ///< looked at if it exists; "": none, and no SHOAL_SETTINGS either
};

/// The settings of a new dataset: argument before SHOAL_* variables before namelist before toml before
/// defaults. A file that SHOAL_SETTINGS names takes the place of toml. Errors: unknown keys or variables
/// SHOAL_*, bad values, a file that was named and is not there. Local.
Settings resolve_settings(const std::string& argument, const SettingSources& sources);

/// Parts of resolve_settings, each sets what its source holds.
void set_from_environment(Settings& settings);
void set_from_namelist(Settings& settings, const std::string& path);
/// text: of the file. below: where paths to write lie, as in Settings::set.
void set_from_toml(Settings& settings, const std::string& text, const std::string& path,
                   const std::string& below);

}  // namespace shoal
