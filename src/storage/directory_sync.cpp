// SPDX-License-Identifier: BSD-3-Clause
#include "storage/directory_sync.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

namespace shoal {

std::string directory_of(const std::string& path) {
  const auto directory = std::filesystem::path(path).parent_path().string();
  return directory.empty() ? "." : directory;
}

void sync_directory_of(const std::string& path) {
  const int fd = ::open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace shoal
