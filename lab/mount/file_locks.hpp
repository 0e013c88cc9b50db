// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <vector>

#include "model/units.hpp"

namespace shoal::lab {

/// Who holds a lock of fcntl: a process of a client, or an open file description.
struct LockOwner {
  ClientId client = 0;
  std::uint64_t number = 0;  ///< the kernel's, of this client
  friend bool operator==(const LockOwner&, const LockOwner&) = default;
};

struct FileLock {
  Extent range;
  bool writes = false;
  LockOwner owner;
  pid_t pid = 0;
  std::uint64_t handle = 0;  ///< through which it was taken
};

/// Locks of fcntl of all clients, as on a file system that nodes share. They exclude each other and cost no
/// time here.
class FileLocks {
 public:
  /// A lock of another owner that excludes this one.
  std::optional<FileLock> conflict(FileId file, const FileLock& lock) const;
  /// Takes the lock, and changes what its owner has there; false: somebody else's is in the way.
  bool take(FileId file, const FileLock& lock);
  void unlock(FileId file, LockOwner owner, Extent range);
  /// All locks that were taken through this handle.
  void drop_handle(FileId file, std::uint64_t handle);

 private:
  std::map<FileId, std::vector<FileLock>> locks_;
};

}  // namespace shoal::lab
