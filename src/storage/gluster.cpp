// SPDX-License-Identifier: BSD-3-Clause
#include "storage/gluster.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

namespace shoal {

namespace {

namespace fs = std::filesystem;

/// A translator that a client has only while the volume's key is on.
struct Translator {
  const char* type;
  const char* key;
};

// Not here: readdir-ahead, io-threads and utime, which keep nothing of a file.
constexpr std::array k_translators{
    Translator{"performance/write-behind", "performance.write-behind"},
    Translator{"performance/read-ahead", "performance.read-ahead"},
    Translator{"performance/io-cache", "performance.io-cache"},
    Translator{"performance/quick-read", "performance.quick-read"},
    Translator{"performance/md-cache", "performance.stat-prefetch"},
    Translator{"performance/nl-cache", "performance.nl-cache"},
    Translator{"performance/open-behind", "performance.open-behind"},
    Translator{"features/shard", "features.shard"},  // sizes go wrong when several clients extend a file
};

/// An option of a mount: its line in .meta/root/private, and as it is given to mount.
struct MountOption {
  const char* name;
  double wanted;
  const char* option;
};

constexpr std::array k_mount_options{
    MountOption{"direct_io_mode", 1, "direct-io-mode=enable"},
    MountOption{"attribute_timeout", 0, "attribute-timeout=0"},
    MountOption{"entry_timeout", 0, "entry-timeout=0"},
};

/// The number of a line "name = number".
std::optional<double> number_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string found, equals;
    double number = 0;
    if (words >> found >> equals >> number && found == name && equals == "=") return number;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<std::string>> gluster_caches(const fs::path& mount_point) {
  const fs::path meta = mount_point / ".meta";
  std::vector<std::string> types;
  std::error_code error;
  for (fs::directory_iterator entry(meta / "graphs" / "active", error), end; !error && entry != end;
       entry.increment(error)) {
    std::string type;
    if (std::ifstream(entry->path() / "type") >> type) types.push_back(type);
  }
  if (error || types.empty()) return std::nullopt;
  std::vector<std::string> caches;
  for (const auto& [type, key] : k_translators)
    if (std::find(types.begin(), types.end(), type) != types.end()) caches.emplace_back(key);
  std::ostringstream text;
  text << std::ifstream(meta / "root" / "private").rdbuf();
  for (const auto& [name, wanted, option] : k_mount_options) {
    const auto number = number_of(text.str(), name);
    if (!number) return std::nullopt;
    if (*number != wanted) caches.emplace_back(option);
  }
  return caches;
}

std::string gluster_advice(const std::vector<std::string>& caches) {
  std::string keys, options;
  for (const auto& cache : caches) {
    const bool is_option = cache.find('=') != std::string::npos;
    std::string& list = is_option ? options : keys;
    list += (list.empty() ? "" : is_option ? "," : ", ") + cache;
  }
  if (!keys.empty()) keys = "switch off on the volume (gluster volume set VOLUME KEY off): " + keys;
  if (!options.empty()) options = "mount with -o " + options;
  return keys + (keys.empty() || options.empty() ? "" : "; ") + options;
}

}  // namespace shoal
