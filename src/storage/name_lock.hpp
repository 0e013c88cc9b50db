// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "storage/file_lock.hpp"

namespace shoal {

/// The lock file of a path, ".NAME.new.tmp", which all who make a file of the path know: so two jobs find
/// each other before either file has the name. It holds no data, but lists what its owner makes beside the
/// path: who finds it left by a job that was killed removes that as well. All is Local.
class NameLock {
 public:
  using Outcome = FileLock::Outcome;

  NameLock() = default;
  NameLock(const NameLock&) = delete;
  NameLock& operator=(const NameLock&) = delete;
  ~NameLock() { release(); }

  /// Of the file that links lead to. What a killed job listed is removed: at once where the file system has
  /// one node, as nobody else can have it then; elsewhere once nobody wrote to it for a day (locks may be
  /// known on their own node alone). Counts as locked, and nothing is listed: no lock file can be made here,
  /// or what has its name is not this user's own.
  Outcome take(const std::string& target, bool has_one_node);
  /// A file that is about to be made beside the path.
  void note(const std::string& beside) const;
  /// What is listed is not to be removed by a later job. Lists of other jobs go, too.
  void forget() const;
  /// What was listed has the name by now, or is gone: the lock file goes. It stays for a later job while
  /// another one's file is there.
  void release();

  const std::string& reason() const { return lock_.reason(); }

 private:
  std::string target_;
  std::string file_;  ///< empty: there is none
  FileLock lock_;
};

}  // namespace shoal
