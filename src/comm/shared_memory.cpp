// SPDX-License-Identifier: BSD-3-Clause
#include "comm/shared_memory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>

#include "base/error.hpp"

namespace shoal {

namespace {

constexpr std::time_t k_minute = 60;

std::array<char, 48> new_name() {
  std::uint64_t number = 0;
  // Not std::random_device: it asks the processor what it is each time, which virtual machines intercept.
  if (::getrandom(&number, sizeof number, 0) != sizeof number) throw errno_error(errno, "no random number");
  std::array<char, 48> name{};
  std::snprintf(name.data(), name.size(), "/shoal-%ld-%llx", static_cast<long>(::getpid()),
                static_cast<unsigned long long>(number));
  return name;
}

bool is_such_a_name(const char* name) {
  long process = 0;
  unsigned long long number = 0;
  int end = 0;
  return std::sscanf(name, "shoal-%ld-%llx%n", &process, &number, &end) == 2 && name[end] == '\0';
}

// A name without a lock is of a process that died, or of one that had it a moment ago.
bool is_left_over(int folder, const char* name) {
  SharedFd file;
  file.fd = ::openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat status {};
  return file.fd >= 0 && ::fstat(file.fd, &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_uid == ::geteuid() && std::time(nullptr) - status.st_mtime > k_minute &&
         ::flock(file.fd, LOCK_EX | LOCK_NB) == 0;
}

void remove_leftovers_once() {
  static std::once_flag once;
  std::call_once(once, [] { remove_leftovers(SharedMemory::k_folder); });
}

Error cannot_make(int error_number) {
  return {Code::no_memory,
          "cannot make shared memory (shm_open): " + std::string(std::strerror(error_number))};
}

bool is_same(const struct stat& status, const SharedMemory& memory) {
  return static_cast<std::int64_t>(status.st_dev) == memory.device &&
         static_cast<std::int64_t>(status.st_ino) == memory.inode;
}

}  // namespace

SharedFd::~SharedFd() {
  if (fd >= 0) ::close(fd);
}

SharedMemory SharedMemory::make(SharedFd& file) {
  remove_leftovers_once();
  SharedMemory made;
  made.name = new_name();
  file.fd = ::open(k_folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file.fd < 0) {  // no such file system: then by a name from the beginning
    file.fd = ::shm_open(made.name.data(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file.fd < 0) throw cannot_make(errno);
    made.has_name = true;
  }
  ::flock(file.fd, LOCK_SH | LOCK_NB);  // while the name is there, so is somebody who needs it
  struct stat status {};
  if (::fstat(file.fd, &status) != 0) throw cannot_make(errno);
  made.process = ::getpid();
  made.descriptor = file.fd;
  made.device = static_cast<std::int64_t>(status.st_dev);
  made.inode = static_cast<std::int64_t>(status.st_ino);
  return made;
}

// The number may be another process's here: it is looked at before it is opened, and after.
bool SharedMemory::open_by_process(SharedFd& file) const {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%ld/fd/%ld", static_cast<long>(process),
                static_cast<long>(descriptor));
  struct stat status {};
  if (::stat(path.data(), &status) != 0 || !is_same(status, *this)) return false;
  SharedFd opened;
  opened.fd = ::open(path.data(), O_RDWR | O_CLOEXEC);
  if (opened.fd < 0 || ::fstat(opened.fd, &status) != 0 || !is_same(status, *this)) return false;
  std::swap(file.fd, opened.fd);
  return true;
}

void SharedMemory::open_by_name(SharedFd& file) const {
  file.fd = ::shm_open(name.data(), O_RDWR | O_CLOEXEC, 0600);
  if (file.fd < 0)
    throw Error(Code::no_memory, "cannot open the node's shared memory (ranks in different containers?): " +
                                     std::string(std::strerror(errno)));
}

void SharedMemory::give_name(const SharedFd& file) {
  if (has_name) return;
  std::array<char, 64> from{};
  std::snprintf(from.data(), from.size(), "/proc/self/fd/%d", file.fd);
  const std::string to = std::string(k_folder) + name.data();
  if (::linkat(AT_FDCWD, from.data(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) != 0) throw cannot_make(errno);
  has_name = true;
}

void SharedMemory::take_name_away() {
  if (has_name) ::shm_unlink(name.data());
  has_name = false;
}

int remove_leftovers(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> names(::opendir(folder.c_str()), &::closedir);
  if (!names) return 0;
  int removed = 0;
  while (const dirent* entry = ::readdir(names.get())) {
    const int at = ::dirfd(names.get());
    if (is_such_a_name(entry->d_name) && is_left_over(at, entry->d_name) &&
        ::unlinkat(at, entry->d_name, 0) == 0)
      ++removed;
  }
  return removed;
}

}  // namespace shoal
