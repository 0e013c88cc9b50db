// SPDX-License-Identifier: BSD-3-Clause
#include "storage/name_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>
#include <vector>

#include "storage/leftovers.hpp"
#include "storage/paths.hpp"
#include "storage/temporary_name.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_longest_list = 64 * 1024;
// A lock file that its owner removes between being opened and being locked is none.
constexpr int k_most_tries = 8;

/// The lock file itself, never what a link of its name leads to.
class ListFile {
 public:
  ListFile(const std::string& path, int flags)
      : fd_(::open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600)) {
    if (fd_ >= 0 && ::fstat(fd_, &status_) == 0 && is_own()) return;
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  ~ListFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  ListFile(const ListFile&) = delete;
  ListFile& operator=(const ListFile&) = delete;

  bool is_there() const { return fd_ >= 0; }
  std::string text() const {
    std::string text(k_longest_list, '\0');
    const ssize_t got = fd_ < 0 ? 0 : ::pread(fd_, text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }
  // Without it a killed job's file stays until somebody removes it: no reason to refuse the new one.
  void append(const std::string& text) const {
    [[maybe_unused]] const ssize_t written = ::pwrite(fd_, text.data(), text.size(), status_.st_size);
  }
  void clear() const { [[maybe_unused]] const int outcome = ::ftruncate(fd_, 0); }

 private:
  // One that was removed has no name left; it is found out by who locks it.
  bool is_own() const {
    return S_ISREG(status_.st_mode) && status_.st_nlink <= 1 && status_.st_uid == ::geteuid();
  }

  int fd_;
  struct stat status_ {};
};

bool is_there(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

// The list is only believed as far as names go that Shoal makes for this target, in its folder.
std::vector<std::string> listed(const std::string& text, const std::string& target) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (is_temporary_name(line, target)) found.push_back(path_beside(target, line));
  return found;
}

void remove_listed(const ListFile& list, const std::string& target, bool at_once) {
  bool all_are_gone = true;
  for (const auto& file : listed(list.text(), target))
    all_are_gone = remove_file_left(file, at_once) && all_are_gone;
  if (all_are_gone) list.clear();
}

}  // namespace

NameLock::Outcome NameLock::take(const std::string& target, bool has_one_node) {
  release();
  const std::string name = name_lock_path(target);
  for (int i = 0; i < k_most_tries; ++i) {
    const ListFile list(name, O_RDWR | O_CREAT);
    if (!list.is_there()) return Outcome::locked;
    const Outcome outcome = lock_.take(name);
    if (outcome == Outcome::taken) return outcome;
    if (outcome == Outcome::locked && !lock_.is_of(name)) continue;
    target_ = target;
    file_ = name;
    remove_listed(list, target, has_one_node && outcome == Outcome::locked);
    return outcome;
  }
  return Outcome::locked;
}

void NameLock::note(const std::string& beside) const {
  if (file_.empty()) return;
  ListFile(file_, O_RDWR).append(file_name_of(beside) + "\n");
}

void NameLock::forget() const {
  if (const ListFile list(file_, O_RDWR); !file_.empty() && list.is_there()) list.clear();
}

void NameLock::release() {
  if (!file_.empty()) {
    bool is_needed = false;
    for (const auto& file : listed(ListFile(file_, O_RDWR).text(), target_))
      is_needed = is_needed || is_there(file) || is_there(header_path(file));
    // Without locks it may be another job's by now, which then is found by nobody, as without it.
    const bool is_mine = lock_.is_of(file_) || !lock_.reason().empty();
    if (is_mine && !is_needed) ::unlink(file_.c_str());
  }
  file_.clear();
  lock_.release();
}

}  // namespace shoal
