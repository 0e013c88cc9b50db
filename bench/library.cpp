// SPDX-License-Identifier: BSD-3-Clause
#include "library.hpp"

#include <shoal/shoal.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

namespace shoal::bench {

namespace {

using Names = std::vector<std::string>;

Names words(const std::string& text) {
  std::istringstream in(text);
  Names found;
  for (std::string word; in >> word;)
    found.push_back(word);
  return found;
}

// Lines "key: value".
std::string build_info(const std::string& key) {
  std::istringstream in(shoal_build_info());
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key + ": ")) return line.substr(key.size() + 2);
  throw std::runtime_error("this libshoal does not say its " + key + "; build shoal-bench with another one");
}

}  // namespace

const std::vector<LibraryDriver>& library_drivers() {
  static const std::vector<LibraryDriver> all = [] {
    const auto built = words(build_info("drivers"));
    std::vector<LibraryDriver> found;
    for (const auto& name : words(build_info("drivers") + " " + build_info("drivers_absent"))) {
      if (name == "none") continue;
      const auto text = build_info("driver_" + name);
      const auto behind = text.find(';');
      found.push_back({name, words(text.substr(0, behind)), words(text.substr(behind + 1)),
                       std::find(built.begin(), built.end(), name) != built.end()});
    }
    return found;
  }();
  return all;
}

const Names& library_formats() {
  static const Names all = words(build_info("formats"));
  return all;
}

std::int64_t default_bytes(const std::string& setting) {
  // A line a setting: name, level, of which files, default, ... with tabs between.
  std::istringstream in(shoal_setting_keys());
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string name, level, files, value;
    if (!std::getline(fields, name, '\t') || name != setting) continue;
    std::getline(fields, level, '\t'), std::getline(fields, files, '\t'), std::getline(fields, value, '\t');
    std::size_t end = 0;
    const auto number = static_cast<std::int64_t>(std::stoll(value, &end));
    const auto unit = std::string("KMG").find(value[end]);
    return unit == std::string::npos ? number : number << 10 * (unit + 1);
  }
  throw std::runtime_error("this libshoal has no setting " + setting);
}

}  // namespace shoal::bench
