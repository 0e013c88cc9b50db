// SPDX-License-Identifier: BSD-3-Clause
#include "storage/leftovers.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <vector>

#include "base/error.hpp"
#include "storage/file_lock.hpp"
#include "storage/paths.hpp"
#include "storage/temporary_name.hpp"

namespace shoal {

namespace {

constexpr std::time_t k_day = 24 * 3600;
constexpr const char* k_header = ".json";

struct Found {
  bool is_there = false, is_own = false, is_old = false, is_folder = false;
};

Found found_at(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  const bool is_folder = S_ISDIR(status.st_mode);
  return {true, (S_ISREG(status.st_mode) || is_folder) && status.st_uid == ::geteuid(),
          std::time(nullptr) - status.st_mtime > k_day, is_folder};
}

bool removed(const std::string& path, bool at_once) {
  const Found found = found_at(path);
  if (!found.is_there) return true;
  if (!found.is_own || !(at_once || found.is_old)) return false;
  FileLock lock;
  if (lock.take(path) == FileLock::Outcome::taken) return false;
  if (found.is_folder) remove_all(path);
  return found.is_folder || ::unlink(path.c_str()) == 0;
}

}  // namespace

std::string header_path(const std::string& file) {
  return file + k_header;
}

bool remove_file_left(const std::string& file, bool at_once) noexcept {
  bool all = false;
  caught([&] { all = removed(file, at_once) && removed(header_path(file), at_once); });
  return all;
}

void remove_files_left_beside(const std::string& path) noexcept {
  caught([&] {
    const std::string folder = folder_of(path);
    std::vector<std::string> found{name_lock_path(path)};
    for (std::string& name : names_in_folder(folder)) {
      if (name.ends_with(k_header)) name.resize(name.size() - std::string(k_header).size());
      if (is_temporary_name(name, path)) found.push_back(joined_path(folder, name));
    }
    for (const std::string& one : found)
      remove_file_left(one, false);
  });
}

}  // namespace shoal
