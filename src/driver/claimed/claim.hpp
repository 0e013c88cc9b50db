// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/driver.hpp"
#include "storage/file_lock.hpp"
#include "storage/replacement.hpp"

namespace shoal {

/// What rank 0 holds of the path of a dataset that is written: a lock, so that no other job writes it too,
/// and the new file's place beside an old one that is to be there until the first commit, or until data have
/// moved. All is Local.
class Claim {
 public:
  /// calls_mpi_io: the driver's library may lock the file itself. Error(state): somebody else has the file.
  Claim(const std::string& path, OpenMode mode, Format format, const DriverOptions& options,
        bool calls_mpi_io);

  /// Where the driver makes or opens the file, and how.
  const std::string& working_path() const { return replacement_ ? replacement_->beside() : path_; }
  OpenMode mode() const { return mode_; }
  bool replaces() const { return replacement_ != nullptr; }
  /// Other nodes may see the rename late, as their clients keep what a name was: where several nodes write,
  /// the old file is to be replaced at once.
  bool needs_rename_fence() const { return replaces() && needs_rename_fence_; }
  /// The old file goes at once after all; why.
  void replace_at_once(const std::string& why);

  /// The driver has made or opened the file. Error(state): somebody else made one of this name meanwhile.
  void opened();
  /// A file that was made here is found after a loss of power, too. Once.
  void make_name_durable();
  /// The new file takes the old one's name.
  void commit(bool durable);

  /// The data move to a new file, which takes the place of the one that is written: where it is to be made.
  /// Error(not_supported): no other file can take its place.
  const std::string& begin_move();
  /// That is made, and the driver has it: it takes the place at once, also after a loss of power; before the
  /// first commit it is what that will rename.
  void end_move();
  /// The file that was written stays.
  void give_up_move();

  /// Nobody writes the file any more.
  void release();
  /// commit failed for good; the new file is left, and where it is.
  std::string leave();

  /// What the user has to know.
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
