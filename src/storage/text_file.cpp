// SPDX-License-Identifier: BSD-3-Clause
#include "storage/text_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"

namespace shoal {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

struct TextFile {
  std::string text;
  struct stat status {};
};

void check_kind(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) throw Error(Code::setting, "it is a folder, not a file of text");
  if (!S_ISREG(status.st_mode))
    throw Error(Code::setting, "it is a device, a pipe or a socket, not a file of text");
}

// Looked at before it is opened, which does things to a device, and once more behind: another one may have
// come to its place.
TextFile read_regular(const std::string& path, std::uint64_t most) {
  TextFile file;
  if (::stat(path.c_str(), &file.status) != 0) throw errno_error(errno, "it cannot be read");
  check_kind(file.status);
  const Descriptor opened(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (opened.get() < 0 || ::fstat(opened.get(), &file.status) != 0)
    throw errno_error(errno, "it cannot be read");
  check_kind(file.status);
  constexpr std::size_t k_step = 64 * 1024;
  for (;;) {
    const std::size_t had = file.text.size();
    file.text.resize(had + k_step);
    const ssize_t got = ::read(opened.get(), file.text.data() + had, k_step);
    if (got < 0 && errno != EINTR) throw errno_error(errno, "it cannot be read");
    file.text.resize(had + static_cast<std::size_t>(got < 0 ? 0 : got));
    if (got == 0) return file;
    if (file.text.size() > most)
      throw Error(Code::setting, "it has more than {} KiB, and no such file needs as many", most / 1024);
  }
}

}  // namespace

std::string why_not_trusted(uid_t owner, mode_t mode, uid_t user) {
  if (owner != 0 && owner != user) return fmt::format("it belongs to user {}", owner);
  if ((mode & S_IWOTH) != 0) return fmt::format("every user may write to it (mode {:04o})", mode & 07777U);
  return "";
}

std::string text_of_file(const std::string& path, std::uint64_t most) {
  return in_context(path, [&] { return read_regular(path, most).text; });
}

bool write_text_file(const std::string& path, const std::string& text, bool append, bool careful) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (append ? O_APPEND : O_TRUNC) |
                    (careful ? O_NOFOLLOW | O_NONBLOCK : 0);
  const int fd = ::open(path.c_str(), flags, 0666);
  struct stat status {};
  bool good = fd >= 0 && (!careful || (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)));
  for (std::size_t at = 0; good && at < text.size();) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    good = n > 0 || (n < 0 && errno == EINTR);
    at += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  if (fd >= 0) good = ::close(fd) == 0 && good;
  return good;
}

FoundText find_text(const std::string& path, std::uint64_t most) {
  FoundText found;
  struct stat name {};
  struct stat target {};
  if (::lstat(path.c_str(), &name) != 0 || ::stat(path.c_str(), &target) != 0) return found;
  found.there = true;
  const uid_t user = ::geteuid();
  if (S_ISLNK(name.st_mode)) found.why_not = why_not_trusted(name.st_uid, 0, user);
  if (found.why_not.empty()) found.why_not = why_not_trusted(target.st_uid, target.st_mode, user);
  if (!found.why_not.empty()) return found;
  const Status status = caught([&] {
    TextFile file = read_regular(path, most);
    found.why_not = why_not_trusted(file.status.st_uid, file.status.st_mode, user);
    if (found.why_not.empty()) found.text = std::move(file.text);
  });
  if (!status.ok()) found.why_not = status.message;
  return found;
}

}  // namespace shoal
