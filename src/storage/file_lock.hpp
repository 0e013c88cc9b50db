// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace shoal {

/// Others that want to write the same file find that somebody has it: an advisory lock of one byte far behind
/// all data, which belongs to an open file and goes with it, whatever becomes of the process (Linux's open
/// file description locks). Programs that read are not in its way, nor are the locks of HDF5 (flock) and
/// those that MPI-IO libraries take of the bytes they write. All is Local.
class FileLock {
 public:
  enum class Outcome {
    locked,
    taken,        ///< somebody else has it
    not_possible  ///< the file system has no locks: see reason()
  };

  FileLock() = default;
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() { release(); }

  /// Of the file that has this name; links are followed. What cannot be opened for writing, and what is no
  /// plain file, is left alone and counts as locked: who opens it next says what is wrong with it.
  Outcome take(const std::string& path);
  /// Is it of the file that has this name now?
  bool is_of(const std::string& path) const;
  void release();

  /// Why it is not possible: "No locks available".
  const std::string& reason() const { return reason_; }

 private:
  int fd_ = -1;
  std::string reason_;
};

}  // namespace shoal
