// SPDX-License-Identifier: BSD-3-Clause
#include "storage/directory_sync.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "storage/paths.hpp"

namespace shoal {

void sync_directory_of(const std::string& path) {
  const int fd = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

void sync_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || ::fsync(fd) != 0) {
    const int reason = errno;
    if (fd >= 0) ::close(fd);
    throw errno_error(reason, "the file cannot be synced (fsync)").in_file(path);
  }
  ::close(fd);
}

}  // namespace shoal
