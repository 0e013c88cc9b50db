// SPDX-License-Identifier: BSD-3-Clause
#include "storage/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace shoal {

namespace {

// MPI-IO libraries lock what they write, and some wait for as long as that takes: so a byte that nobody
// writes.
constexpr off_t k_byte = off_t{1} << 62U;
// A file that another one replaces between being opened and being locked is not the one that is meant.
constexpr int k_most_tries = 8;

bool is_the_same(int fd, const std::string& path) {
  struct stat here {};
  struct stat there {};
  return ::fstat(fd, &here) == 0 && ::stat(path.c_str(), &there) == 0 && here.st_dev == there.st_dev &&
         here.st_ino == there.st_ino;
}

bool lock(int fd, bool is_folder) {
  if (is_folder) return ::flock(fd, LOCK_EX | LOCK_NB) == 0;
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = k_byte;
  range.l_len = 1;
  return ::fcntl(fd, F_OFD_SETLK, &range) == 0;
}

bool is_lockable(const std::string& path, bool& is_folder) {
  struct stat status {};
  const bool is_there = ::stat(path.c_str(), &status) == 0;
  is_folder = is_there && S_ISDIR(status.st_mode);
  return is_folder || (is_there && S_ISREG(status.st_mode));
}

}  // namespace

FileLock::FileLock(FileLock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), reason_(std::move(other.reason_)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(reason_, other.reason_);
  return *this;
}

FileLock::Outcome FileLock::take(const std::string& path) {
  release();
  bool is_folder = false;
  for (int i = 0; i < k_most_tries && is_lockable(path, is_folder); ++i) {
    fd_ = ::open(path.c_str(),
                 (is_folder ? O_RDONLY | O_DIRECTORY : O_RDWR) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd_ < 0) return Outcome::locked;
    const bool locked = lock(fd_, is_folder);
    const int why = errno;
    if (locked && is_the_same(fd_, path)) return Outcome::locked;
    release();
    if (locked) continue;
    if (why == EAGAIN || why == EACCES) return Outcome::taken;
    reason_ = std::strerror(why);
    return Outcome::not_possible;
  }
  return Outcome::locked;
}

bool FileLock::is_of(const std::string& path) const {
  return fd_ >= 0 && is_the_same(fd_, path);
}

void FileLock::release() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace shoal
