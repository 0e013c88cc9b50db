// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace shoal {

/// A descriptor that is closed with its owner.
struct SharedFd {
  int fd = -1;
  SharedFd() = default;
  SharedFd(const SharedFd&) = delete;
  SharedFd& operator=(const SharedFd&) = delete;
  ~SharedFd();
};

/// Where the ranks of a node find a piece of shared memory that one of them made. It has no name, so that
/// nothing is left behind a job that is killed, whenever that is: others open it through that process. What
/// ranks in other process namespaces (containers) cannot, they do by a name, for as long as that takes. All
/// is Local.
struct SharedMemory {
  std::array<char, 48> name{};  ///< that it gets if it needs one; empty: there is no memory
  std::int64_t process = 0, descriptor = -1;
  std::int64_t device = 0, inode = 0;
  bool has_name = false;

  static constexpr const char* k_folder = "/dev/shm";

  /// A new one of no bytes. Error(no_memory): there is no shared memory.
  static SharedMemory make(SharedFd& file);
  /// False: this process does not see the one that made it.
  bool open_by_process(SharedFd& file) const;
  /// Error(no_memory): this process has another /dev/shm.
  void open_by_name(SharedFd& file) const;
  /// By who made it: others can open it by its name until that is taken away.
  void give_name(const SharedFd& file);
  void take_name_away();
};

/// Names of pieces whose processes died while they had one, of this user. folder: where such names are. Those
/// that somebody still locks, and those of the last minute, stay. How many went. Local.
int remove_leftovers(const std::string& folder);

}  // namespace shoal
