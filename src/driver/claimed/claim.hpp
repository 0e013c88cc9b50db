// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/driver.hpp"
#include "storage/file_lock.hpp"
#include "storage/replacement.hpp"

namespace shoal {

/// Rank 0's claim on the path of a dataset that is written: a lock, so that no other job writes the file too,
/// and the new file (Replacement) where an old one is to stay until the first commit, or until data have
/// moved. All is Local.
class Claim {
 public:
  /// calls_mpi_io: the driver's library may lock the file itself. Error(state): another job has the file.
  Claim(const std::string& path, OpenMode mode, Format format, const DriverOptions& options,
        bool calls_mpi_io);

  /// The path and the mode with which the driver makes or opens the file.
  const std::string& working_path() const { return replacement_ ? replacement_->beside() : path_; }
  OpenMode mode() const { return mode_; }
  bool replaces() const { return replacement_ != nullptr; }
  /// Other nodes may see the rename late, as their clients keep what a name was: where several nodes write,
  /// the old file is to be replaced at once.
  bool needs_rename_fence() const { return replaces() && needs_rename_fence_; }
  /// Replaces the old file at once, not at the first commit; why: for a warning.
  void replace_at_once(const std::string& why);

  /// To be called when the driver has made or opened the file. Error(state): another job made a file of this
  /// name meanwhile.
  void opened();
  /// Syncs the directory of a file that was made here, once: its name outlives a loss of power.
  void make_name_durable();
  /// Gives the new file the name of the old one.
  void commit(bool durable);

  /// Begins a move of the data to a new file that replaces this one: returns the path to make it at.
  /// Error(not_supported): the file cannot be replaced.
  const std::string& begin_move();
  /// Ends a move: the new file, which the driver has open, replaces this one now, also after a loss of power;
  /// before the first commit, it is the file that the commit renames.
  void end_move();
  /// Gives up a move: this file stays.
  void give_up_move();

  /// Releases the lock.
  void release();
  /// After commit has failed for good: keeps the new file under its temporary name, and returns its path.
  std::string leave();

  /// Warnings for the user.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void choose_place(Format format, const DriverOptions& options);
  void meet_others(Format format);
  void lock_beside();
  void lock(FileLock& lock, const std::string& file);

  std::string path_;
  OpenMode mode_;
  bool locks_;
  bool needs_rename_fence_ = false;
  bool name_is_durable_ = false;
  std::string why_not_movable_;
  FileLock lock_, lock_of_new_;
  std::unique_ptr<Replacement> replacement_;
  std::unique_ptr<Replacement> moved_;
  std::vector<std::string> warnings_;
};

}  // namespace shoal
