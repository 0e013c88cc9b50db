// SPDX-License-Identifier: BSD-3-Clause
#include "storage/replacement.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/error.hpp"
#include "storage/directory_sync.hpp"
#include "storage/temporary_name.hpp"
#include "storage/whole_file.hpp"

namespace shoal {

namespace {

constexpr const char* k_access_list = "system.posix_acl_access";
constexpr std::uint64_t k_most_beside = std::uint64_t{1} << 30;

// Without a file of the name `to`. Not all file systems can say so in one step.
bool rename_to_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  struct stat status {};
  if (::lstat(to.c_str(), &status) != 0) return std::rename(from.c_str(), to.c_str()) == 0;
  errno = EEXIST;
  return false;
}

/// A descriptor that is closed.
struct Opened {
  explicit Opened(const std::string& path) : fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)) {}
  ~Opened() {
    if (fd >= 0) ::close(fd);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  int fd;
};

// Who keeps the bits of a group that is another one gives rights to people who had none.
mode_t rights_of(const struct stat& old, bool same_owner, bool same_group) {
  mode_t rights = old.st_mode & 07777U;
  if (!same_group) rights = (rights & ~mode_t{070}) | ((rights & 07U) << 3U);
  if (!same_owner || !same_group) rights &= 0777U;
  return rights;
}

void copy_access_list(const std::string& from, int to) {
  const ssize_t bytes = ::getxattr(from.c_str(), k_access_list, nullptr, 0);
  if (bytes <= 0) return;  // most files have none
  std::string list(static_cast<std::size_t>(bytes), '\0');
  const ssize_t got = ::getxattr(from.c_str(), k_access_list, list.data(), list.size());
  if (got > 0) ::fsetxattr(to, k_access_list, list.data(), static_cast<std::size_t>(got), 0);
}

/// The file beside the target keeps its name aside while that one is replaced.
class Aside {
 public:
  explicit Aside(std::string path) : path_(std::move(path)) {
    const std::string aside = temporary_name(path_);
    if (std::rename(path_.c_str(), aside.c_str()) == 0) aside_ = aside;
  }
  ~Aside() {
    if (!aside_.empty()) std::rename(aside_.c_str(), path_.c_str());
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  void drop() {
    if (!aside_.empty()) std::remove(aside_.c_str());
    aside_.clear();
  }

 private:
  std::string path_, aside_;
};

}  // namespace

std::string target_of(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
  if (real) return real.get();
  constexpr int k_most_links = 40;
  std::filesystem::path target(path);
  std::error_code ignored;
  for (int i = 0; i < k_most_links && std::filesystem::is_symlink(target, ignored); ++i)
    target = target.parent_path() / std::filesystem::read_symlink(target, ignored);
  return target.string();
}

bool is_a_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool is_special(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

std::string why_not_replaceable(const std::string& path) {
  const std::string target = target_of(path);
  const std::string folder = directory_of(target);
  struct stat file {};
  struct stat around {};
  if (::stat(target.c_str(), &file) != 0 || ::stat(folder.c_str(), &around) != 0) return "it cannot be found";
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    return fmt::format("this user may not make files in the folder '{}'", folder);
  const uid_t me = ::geteuid();
  if ((around.st_mode & S_ISVTX) != 0 && me != 0 && me != file.st_uid && me != around.st_uid)
    return fmt::format("in the folder '{}' only the owner of a file may replace it", folder);
  return "";
}

std::uint64_t file_number(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_ino) : 0;
}

void check_replaced(const std::string& path, std::uint64_t number) {
  if (number == 0 || file_number(path) == number) return;
  throw Error(Code::state,
              "the file was replaced by another one since it was opened, and the old one can no longer be "
              "opened on this rank; close the dataset and open it again")
      .in_file(path);
}

Replacement::Replacement(std::string path, std::vector<std::string> suffixes, What what)
    : path_(std::move(path)),
      target_(target_of(path_)),
      beside_(temporary_name(target_)),
      suffixes_(std::move(suffixes)),
      what_(what) {}

bool Replacement::meet() {
  const std::string name = shared_temporary_name(target_);
  const int fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  struct stat status {};
  const bool mine = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
                    status.st_uid == ::geteuid();
  ::close(fd);
  if (mine) beside_ = name;
  return mine;
}

Replacement::Replacement(std::string path, std::vector<std::string> suffixes, std::string made)
    : path_(std::move(path)),
      target_(target_of(path_)),
      beside_(std::move(made)),
      suffixes_(std::move(suffixes)),
      what_(What::of_file) {}

Replacement::~Replacement() {
  if (done_) return;
  ::unlink(beside_.c_str());
  for (const auto& suffix : suffixes_)
    ::unlink((beside_ + suffix).c_str());
}

void Replacement::take_over_rights() const {
  struct stat old {};
  if (::stat(target_.c_str(), &old) != 0) return;
  const Opened made(beside_);
  struct stat now {};
  if (made.fd < 0 || ::fstat(made.fd, &now) != 0)
    throw errno_error(errno, "the new file cannot be given the permissions of the old one").in_file(path_);
  const bool same_group =
      old.st_gid == now.st_gid || ::fchown(made.fd, static_cast<uid_t>(-1), old.st_gid) == 0;
  const bool same_owner =
      old.st_uid == now.st_uid || ::fchown(made.fd, old.st_uid, static_cast<gid_t>(-1)) == 0;
  ::fchmod(made.fd, rights_of(old, same_owner, same_group));
  if (same_group) copy_access_list(target_, made.fd);
}

void Replacement::take_name() {
  std::vector<std::unique_ptr<Aside>> old;
  for (const auto& suffix : suffixes_)
    old.push_back(std::make_unique<Aside>(path_ + suffix));
  if (what_ == What::of_name && !rename_to_new(beside_, target_)) {
    if (errno == EEXIST)
      throw Error(Code::exists,
                  "somebody else has made a file of this name since the dataset was created, and it stays; "
                  "remove it, or create the dataset with another name")
          .in_file(path_);
    throw errno_error(errno, "the new file cannot be given its name (rename)").in_file(path_);
  }
  if (what_ == What::of_file && std::rename(beside_.c_str(), target_.c_str()) != 0)
    throw errno_error(errno, "the new file cannot take the place of the old one (rename)").in_file(path_);
  done_ = true;
  for (auto& aside : old)
    aside->drop();
}

// Files that belong together cannot be renamed at once. Killed in between, none of the new ones stands beside
// an old one: then the dataset cannot be opened, which is better than values from the wrong places.
void Replacement::commit(bool durable) {
  if (!done_) take_name();
  // Where the path is a link, its neighbours are in another folder than the file.
  for (const auto& suffix : suffixes_) {
    const auto text = read_whole_file(beside_ + suffix, k_most_beside);
    if (!text) continue;
    replace_whole_file(path_ + suffix, *text, durable);
    std::remove((beside_ + suffix).c_str());
  }
  if (durable) sync_directory_of(target_);
}

}  // namespace shoal
