// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "storage/file_lock.hpp"

namespace shoal {

/// The lock file of a path, ".NAME.new.tmp", the same for all jobs that make a file of the path: so two of
/// them find each other before either file has the name. It holds no data, but lists the files that its owner
/// makes beside the path: the next job removes those of a job that was killed, too. All is Local.
class NameLock {
 public:
  using Outcome = FileLock::Outcome;

  NameLock() = default;
  NameLock(const NameLock&) = delete;
  NameLock& operator=(const NameLock&) = delete;
  ~NameLock() { release(); }

  /// Locks the name of the file that links lead to. Files that a killed job listed are removed: at once where
  /// the file system has one node, as no other job can have them then; elsewhere when they were not written
  /// to for a day (locks may be known on their own node alone). Counts as locked, and nothing is listed,
  /// where no lock file can be made, or the file of its name is not this user's own.
  Outcome take(const std::string& target, bool has_one_node);
  /// Lists a file that is about to be made beside the path.
  void note(const std::string& beside) const;
  /// Empties the list, and those of other jobs, so that no later job removes the files.
  void forget() const;
  /// Removes the lock file, as the listed files have the name by now, or are gone. It stays for a later job
  /// while another job's file is there.
  void release();

  const std::string& reason() const { return lock_.reason(); }

 private:
  std::string target_;
  std::string file_;  ///< empty: there is none
  FileLock lock_;
};

}  // namespace shoal
