// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace shoal {

/// An advisory lock that keeps other jobs from writing the same file. It is of one byte far behind all data,
/// belongs to an open file and ends with it, whatever becomes of the process (Linux's open file description
/// locks). It does not disturb programs that read, the locks of HDF5 (flock), and those that MPI-IO libraries
/// take of the bytes that they write. Of a folder, it is the folder's own (flock). All is Local.
class FileLock {
 public:
  enum class Outcome {
    locked,
    taken,        ///< another process has it
    not_possible  ///< the file system has no locks: see reason()
  };

  FileLock() = default;
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() { release(); }

  /// Locks the file or folder of this name; links are followed. A file that cannot be opened for writing, or
  /// is neither, counts as locked: the error comes when it is opened.
  Outcome take(const std::string& path);
  /// Is the lock on the file that has this name now?
  bool is_of(const std::string& path) const;
  void release();

  /// The reason of not_possible: "No locks available".
  const std::string& reason() const { return reason_; }

 private:
  int fd_ = -1;
  std::string reason_;
};

}  // namespace shoal
