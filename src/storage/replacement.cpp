// SPDX-License-Identifier: BSD-3-Clause
#include "storage/replacement.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/error.hpp"
#include "storage/directory_sync.hpp"
#include "storage/paths.hpp"
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

/// A file that belongs to the old one has another name while that one is replaced.
class Aside {
 public:
  explicit Aside(std::string path) : path_(std::move(path)) {
    const std::string aside = temporary_name(path_);
    if (std::rename(path_.c_str(), aside.c_str()) == 0) {
      aside_ = aside;
    } else if (errno != ENOENT) {
      throw errno_error(errno, "the file belongs to the one that is replaced, and cannot be renamed")
          .in_file(path_);
    }
  }
  ~Aside() {
    if (!aside_.empty()) std::rename(aside_.c_str(), path_.c_str());
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  void drop() {
    if (!aside_.empty()) caught([&] { remove_all(aside_); });
    aside_.clear();
  }

 private:
  std::string path_, aside_;
};

bool are_one_folder(const std::string& a, const std::string& b) {
  std::error_code unknown;
  return std::filesystem::equivalent(folder_of(a), folder_of(b), unknown);
}

}  // namespace

void refuse_special(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return;
  throw Error(
      Code::invalid_argument,
      "the path names a pipe, a socket or a device, which no file can be put in the place of; give the "
      "name of a file")
      .in_file(path);
}

std::string why_not_replaceable(const std::string& path) {
  const std::string target = target_of(path);
  const std::string folder = folder_of(target);
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

void check_replaced(const std::string& path, std::uint64_t number) {
  if (number == 0 || file_number(path) == number) return;
  throw Error(Code::state,
              "the file was replaced by another one since it was opened, and the old one can no longer be "
              "opened on this rank; close the dataset and open it again")
      .in_file(path);
}

Replacement::Replacement(const std::string& path, const std::vector<std::string>& suffixes, What what)
    : Replacement(path, suffixes, temporary_name(target_of(path)), what) {}

Replacement::Replacement(const std::string& path, const std::vector<std::string>& suffixes, std::string made,
                         What what)
    : path_(path), target_(target_of(path)), beside_(std::move(made)), what_(what) {
  for (const auto& suffix : suffixes)
    companions_.push_back({suffix, absolute_path(path) + suffix, ""});
}

Replacement::~Replacement() {
  if (done_) return;
  caught([&] { remove_all(beside_); });
  for (const auto& companion : companions_) {
    ::unlink((beside_ + companion.suffix).c_str());
    if (!companion.ready.empty()) ::unlink(companion.ready.c_str());
  }
}

void Replacement::take_over_rights() const {
  struct stat old {};
  if (::stat(target_.c_str(), &old) != 0) return;
  const Opened made(beside_);
  struct stat now {};
  if (made.fd < 0 || ::fstat(made.fd, &now) != 0)
    throw errno_error(errno, "the new file cannot be given the permissions of the old one").in_file(path_);
  if (S_ISDIR(old.st_mode) != S_ISDIR(now.st_mode)) return;
  const bool same_group =
      old.st_gid == now.st_gid || ::fchown(made.fd, static_cast<uid_t>(-1), old.st_gid) == 0;
  const bool same_owner =
      old.st_uid == now.st_uid || ::fchown(made.fd, old.st_uid, static_cast<gid_t>(-1)) == 0;
  ::fchmod(made.fd, rights_of(old, same_owner, same_group));
  if (same_group) copy_access_list(target_, made.fd);
}

// A folder cannot be renamed to one that has files: the two change their names, or, where the file system
// cannot do that in one step, the old one gives up its name before.
bool Replacement::take_place_of(const std::string& old) const {
  if (what_ == What::of_file && is_a_folder(old)) {
    errno = EISDIR;
    return false;
  }
  if (!is_a_folder(beside_) && !is_a_folder(old)) return std::rename(beside_.c_str(), old.c_str()) == 0;
  if (::renameat2(AT_FDCWD, beside_.c_str(), AT_FDCWD, old.c_str(), RENAME_EXCHANGE) == 0) {
    caught([&] { remove_all(beside_); });
    return true;
  }
  if (errno != EINVAL && errno != ENOSYS) return false;
  Aside aside(old);
  if (std::rename(beside_.c_str(), old.c_str()) != 0) return false;
  aside.drop();
  return true;
}

void Replacement::take_name() {
  refuse_special(target_);
  std::vector<std::unique_ptr<Aside>> old;
  for (const auto& companion : companions_)
    old.push_back(std::make_unique<Aside>(companion.place));
  if (what_ == What::of_free_name && !rename_to_new(beside_, target_)) {
    if (errno == EEXIST)
      throw Error(Code::exists,
                  "somebody else has made a file of this name since the dataset was created, and it stays; "
                  "remove it, or create the dataset with another name")
          .in_file(path_);
    throw errno_error(errno, "the new file cannot be given its name (rename)").in_file(path_);
  }
  if (what_ != What::of_free_name && !take_place_of(target_))
    throw errno_error(errno, "the new file cannot take the place of the old one (rename)").in_file(path_);
  done_ = true;
  for (auto& aside : old)
    aside->drop();
}

std::string Replacement::keep() {
  done_ = true;
  const std::string kept = kept_name(target_);
  if (!rename_to_new(beside_, kept)) return beside_;
  for (const auto& companion : companions_)
    rename_to_new(beside_ + companion.suffix, kept + companion.suffix);
  return kept;
}

// Where the path is a link, what belongs to it is in another folder than the file that it leads to.
void Replacement::make_ready(Companion& companion, bool durable) const {
  const std::string made = beside_ + companion.suffix;
  if (!is_a_file(made)) return;
  if (are_one_folder(made, companion.place)) {
    if (durable) sync_file(made);
    companion.ready = made;
    return;
  }
  if (!companion.ready.empty()) ::unlink(companion.ready.c_str());  // of a commit that failed
  companion.ready = temporary_name(companion.place);
  write_whole_file(companion.ready, *read_whole_file(made, k_most_beside), durable);
}

// Files that belong together cannot be renamed at once. Killed in between, none of the new ones stands beside
// an old one: then the dataset cannot be opened, which is better than values from the wrong places. All that
// needs room on the disk is done before.
void Replacement::commit(bool durable) {
  for (auto& companion : companions_)
    make_ready(companion, durable);
  if (!done_) take_name();
  for (auto& companion : companions_) {
    if (companion.ready.empty()) continue;
    if (std::rename(companion.ready.c_str(), companion.place.c_str()) != 0)
      throw errno_error(errno, "the file belongs to a new one, and cannot be given its name (rename)")
          .in_file(companion.place);
    companion.ready.clear();
    ::unlink((beside_ + companion.suffix).c_str());
    if (durable) sync_directory_of(companion.place);
  }
  if (durable) sync_directory_of(target_);
}

void replace_whole_file(const std::string& path, const std::string& text, bool durable) {
  Replacement replacement(path);
  const Status written = caught([&] { write_whole_file(replacement.beside(), text, durable); });
  if (!written.ok()) throw Error(written.code, written.message).in_file(path);
  replacement.take_over_rights();
  replacement.commit(durable);
}

}  // namespace shoal
