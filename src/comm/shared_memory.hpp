// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace shoal {

/// A file descriptor, closed by the destructor.
struct SharedFd {
  int fd = -1;
  SharedFd() = default;
  SharedFd(const SharedFd&) = delete;
  SharedFd& operator=(const SharedFd&) = delete;
  ~SharedFd();
};

/// The address of shared memory that one rank of a node made and the others open. The memory has no name, so
/// that a job that is killed leaves nothing behind: other ranks open it through the process that made it
/// (/proc). Ranks in other process namespaces (containers) open it by a name, which is there for that moment
/// alone. All is Local.
struct SharedMemory {
  std::array<char, 48> name{};  ///< reserved for give_name; empty: there is no memory
  std::int64_t process = 0, descriptor = -1;
  std::int64_t device = 0, inode = 0;
  bool has_name = false;

  static constexpr const char* k_folder = "/dev/shm";

  /// New memory of no bytes. Error(no_memory): there is no shared memory.
  static SharedMemory make(SharedFd& file);
  /// False: this process does not see the process that made the memory.
  bool open_by_process(SharedFd& file) const;
  /// Error(no_memory): this process has another /dev/shm.
  void open_by_name(SharedFd& file) const;
  /// On the rank that made the memory: others can open it by its name until take_name_away.
  void give_name(const SharedFd& file);
  void take_name_away();
};

/// Removes names that processes of this user left when they died; returns how many. Names that a process
/// still locks, and those of the last minute, stay. folder: k_folder, or another one in tests. Local.
int remove_leftovers(const std::string& folder);

}  // namespace shoal
