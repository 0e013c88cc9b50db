// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/driver.hpp"
#include "storage/file_lock.hpp"
#include "storage/file_system.hpp"
#include "storage/name_lock.hpp"
#include "storage/replacement.hpp"

namespace shoal {

/// Rank 0's claim on the path of a dataset that is written: a lock of the file and, until a new file has the
/// name, of the name (NameLock), so that no other job writes it too; and the new file (Replacement) until the
/// first commit, or until data have moved. All is Local.
class Claim {
 public:
  /// path: absolute, as programs change their working folder. calls_mpi_io: the driver's library may lock the
  /// file itself. Error(state): another job has the file.
  Claim(const std::string& path, OpenMode mode, Format format, const DriverOptions& options,
        bool calls_mpi_io);

  /// The path and the mode with which the driver makes or opens the file.
  const std::string& working_path() const { return replacement_ ? replacement_->beside() : path_; }
  OpenMode mode() const { return mode_; }
  bool replaces() const { return replacement_ != nullptr; }
  /// Other nodes may see the rename late, as their clients keep what a name was: where several nodes write,
  /// the old file is to be replaced at once.
  bool needs_rename_fence() const { return replaces() && sharing_ == FileSystem::Sharing::cached; }
  /// Replaces the old file at once, not at the first commit; why: for a warning.
  void replace_at_once(const std::string& why);
  static const char* why_not_with_nodes() {
    return "several nodes write it, on a file system where they see new names late";
  }

  /// To be called when the driver has made or opened the file. Error(state): another job made a file of this
  /// name meanwhile.
  void opened();
  /// Syncs the directory of a file that was made here, once: its name outlives a loss of power.
  void make_name_durable();
  /// Gives the new file the name of the old one.
  void commit(bool durable);

  /// Begins a move of the data to a new file that replaces this one: returns the path to make it at.
  /// several_nodes: write the file. Error(not_supported): the file cannot be replaced.
  const std::string& begin_move(bool several_nodes);
  /// Ends a move: the new file, which the driver has open, replaces this one now, also after a loss of power;
  /// before the first commit, it is the file that the commit renames.
  void end_move();
  /// Gives up a move: this file stays.
  void give_up_move();

  /// Releases the lock.
  void release();
  /// After commit has failed for good: keeps the new file under a name of its own, and returns its path.
  std::string keep();

  /// Warnings for the user.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void choose_place(Format format, const DriverOptions& options);
  /// The old dataset goes now, where it or the new one is a folder.
  void remove_old_folder();
  /// Error(exists): the path is a folder that holds no dataset.
  void refuse_other_folder() const;
  /// False: the file that is to be made is there by now.
  bool lock_name(bool is_new);
  void lock(FileLock& lock, const std::string& file);
  void take(FileLock::Outcome outcome, const std::string& reason);

  std::string path_;
  OpenMode mode_;
  FileSystem::Sharing sharing_;
  Format format_;
  bool locks_name_;  ///< others are looked for; locks_: also by a lock of the file
  bool locks_;
  bool name_is_durable_ = false;
  std::string why_not_movable_;
  FileLock lock_, lock_of_new_;
  NameLock name_lock_;  ///< goes after what it lists
  std::unique_ptr<Replacement> replacement_;
  std::unique_ptr<Replacement> moved_;
  std::vector<std::string> warnings_;
};

}  // namespace shoal
