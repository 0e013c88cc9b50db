// SPDX-License-Identifier: BSD-3-Clause
#include "storage/leftovers.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "storage/directory_sync.hpp"
#include "storage/file_lock.hpp"
#include "storage/temporary_name.hpp"

namespace shoal {

namespace {

constexpr std::time_t k_day = 24 * 3600;
constexpr const char* k_header = ".json";

bool is_old_and_own(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
         std::time(nullptr) - status.st_mtime > k_day;
}

}  // namespace

void remove_files_left_beside(const std::string& path) noexcept {
  caught([&] {
    const std::string folder = directory_of(path);
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::string name = entry.path().filename().string();
      if (name.ends_with(k_header)) name.resize(name.size() - std::string(k_header).size());
      if (is_temporary_name(name, path)) found.push_back((std::filesystem::path(folder) / name).string());
    }
    for (const std::string& one : found) {
      const std::string header = one + k_header;
      FileLock lock;
      if (std::filesystem::exists(one)) {
        if (!is_old_and_own(one) || lock.take(one) == FileLock::Outcome::taken) continue;
        ::unlink(one.c_str());
      }
      if (is_old_and_own(header)) ::unlink(header.c_str());
    }
  });
}

}  // namespace shoal
