// SPDX-License-Identifier: BSD-3-Clause
#include "driver/claimed/claim.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "driver/mpi_info.hpp"
#include "format/catalog.hpp"
#include "format/raw/raw_header.hpp"
#include "storage/directory_sync.hpp"
#include "storage/leftovers.hpp"

namespace shoal {

namespace {

FileSystem::Sharing sharing_of(const std::string& path, const SystemOptions& system) {
  FileSystem where;
  caught([&] { where = system.find_file_system(path); });  // who cannot ask hears why when it opens
  return where.sharing;
}

// OMPIO locks whole files where it takes a file system for a shared one, and waits for that for ever.
bool library_locks_all(const std::string& path, const SystemOptions& system) {
  return is_ompio(path) && sharing_of(path, system) != FileSystem::Sharing::local;
}

// HDF5 locks whole files (flock), which clients of NFS and SMB make of the same locks as Shoal's: its readers
// would be refused, and driver gather by its own job.
bool hdf5_meets_lock(const std::string& path, OpenMode mode, Format format, const SystemOptions& system) {
  const auto sharing = sharing_of(path, system);
  if (sharing == FileSystem::Sharing::local || sharing == FileSystem::Sharing::unknown) return false;
  if (mode != OpenMode::write) return format == Format::netcdf4 || format == Format::netcdf4_classic;
  Format found = format;
  caught([&] { found = recognise(*system.open_store(path, StoreMode::read)); });
  return found == Format::netcdf4;
}

// Ranks then open the file by its name when they first need it.
bool library_opens_later(const Hints& hints) {
  return std::any_of(hints.begin(), hints.end(),
                     [](const auto& hint) { return hint.first == "romio_no_indep_rw"; });
}

bool is_nothing_there(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) != 0 && errno == ENOENT;
}

}  // namespace

Claim::Claim(const std::string& path, OpenMode mode, Format format, const DriverOptions& options,
             bool calls_mpi_io)
    : path_(path),
      mode_(mode),
      locks_(options.file.locks && !(calls_mpi_io && library_locks_all(path, options.system)) &&
             !hdf5_meets_lock(path, mode, format, options.system)) {
  // Libraries remove what they cannot write.
  if (mode_ != OpenMode::read && is_special(path_))
    throw Error(
        Code::invalid_argument,
        "the path names a pipe, a socket or a device, in which no dataset can be; give the name of a file")
        .in_file(path_);
  lock(lock_, path_);
  if (calls_mpi_io && library_opens_later(options.library.hints))
    why_not_movable_ = "hint romio_no_indep_rw lets ranks open the file by its name later";
  if (mode_ == OpenMode::create || mode_ == OpenMode::create_exclusive) choose_place(format, options);
}

void Claim::choose_place(Format format, const DriverOptions& options) {
  // If somebody else makes one now, it is not emptied.
  const bool is_new = is_nothing_there(path_);
  if (is_new) mode_ = OpenMode::create_exclusive;
  if (!options.file.replace_at_commit) return;
  if (!is_new && (mode_ != OpenMode::create || !is_a_file(path_) || ::access(path_.c_str(), W_OK) != 0))
    return;  // the driver says what is wrong
  if (has_header_file(format)) refuse_foreign_header(path_);
  const std::string why_not = !why_not_movable_.empty() ? why_not_movable_
                              : is_new                  ? std::string()
                                                        : why_not_replaceable(path_);
  if (!why_not.empty()) return replace_at_once(why_not);
  const std::vector<std::string> suffixes =
      has_header_file(format) ? std::vector<std::string>{raw_header_path("")} : std::vector<std::string>{};
  remove_files_left_beside(target_of(path_));
  replacement_ = std::make_unique<Replacement>(
      path_, suffixes, is_new ? Replacement::What::of_name : Replacement::What::of_file);
  mode_ = OpenMode::create_exclusive;
  needs_rename_fence_ = sharing_of(path_, options.system) == FileSystem::Sharing::cached;
  if (is_new) meet_others(format);
}

// Two jobs that make a file of the same name find each other by the lock of the one that lies beside it.
// What a killed job left of its file is nobody's, and is used.
void Claim::meet_others(Format format) {
  if (!locks_ || !replacement_->meet()) return;
  mode_ = OpenMode::create;
  lock_beside();
  if (has_header_file(format)) std::remove(raw_header_path(replacement_->beside()).c_str());
}

// What somebody else has is not removed.
void Claim::lock_beside() {
  const Status status = caught([&] { lock(lock_of_new_, replacement_->beside()); });
  if (status.ok()) return;
  replacement_->leave();
  throw Error(status);
}

void Claim::replace_at_once(const std::string& why) {
  const bool is_new = is_nothing_there(path_);
  replacement_.reset();
  lock_of_new_.release();
  mode_ = is_new ? OpenMode::create_exclusive : OpenMode::create;
  if (is_new) return;
  warnings_.push_back(
      fmt::format("the file that is there is replaced at once, and not when the new one is committed: {}; "
                  "with replace=at_once this is not said",
                  why));
}

void Claim::lock(FileLock& lock, const std::string& file) {
  if (!locks_) return;
  const auto outcome = lock.take(file);
  if (outcome == FileLock::Outcome::taken)
    throw Error(Code::state,
                "the file is open for writing already, in another job or by another dataset of this one; "
                "close it there first, wait for that job, or choose another name (lock=off looks at no "
                "locks: two that write one file mix their bytes)")
        .in_file(path_);
  if (outcome == FileLock::Outcome::not_possible) {
    locks_ = false;
    warnings_.push_back(
        fmt::format("the file cannot be locked ({}), so that another job that writes it too would not be "
                    "noticed; with lock=off this is not said",
                    lock.reason()));
  }
}

void Claim::opened() {
  if (replacement_) {
    replacement_->take_over_rights();
    if (!lock_of_new_.is_of(replacement_->beside())) lock_beside();
  } else if (!lock_.is_of(path_)) {
    lock(lock_, path_);
  }
}

void Claim::make_name_durable() {
  if (!name_is_durable_ && mode_ != OpenMode::write) sync_directory_of(working_path());
  name_is_durable_ = true;
}

void Claim::commit(bool durable) {
  if (!replacement_) return;
  replacement_->commit(durable);
  replacement_.reset();
  lock_ = std::move(lock_of_new_);
  lock_of_new_.release();
}

const std::string& Claim::begin_move() {
  const std::string why_not = !why_not_movable_.empty() ? why_not_movable_
                              : replacement_            ? std::string()
                                                        : why_not_replaceable(path_);
  if (!why_not.empty())
    throw Error(Code::not_supported,
                "the definitions have no place in front of the data, which has to move to a new file that "
                "takes the place of this one, and that cannot be: {}; define everything before the first "
                "data are written, or create the file with more header_reserve",
                why_not)
        .in_file(path_);
  const bool has_no_file = replacement_ && is_nothing_there(path_);
  moved_ =
      std::make_unique<Replacement>(path_, std::vector<std::string>{},
                                    has_no_file ? Replacement::What::of_name : Replacement::What::of_file);
  return moved_->beside();
}

void Claim::end_move() {
  moved_->take_over_rights();
  FileLock of_moved;
  lock(of_moved, moved_->beside());
  if (replacement_) {
    replacement_ = std::move(moved_);
    lock_of_new_ = std::move(of_moved);
    return;
  }
  moved_->commit(true);
  moved_.reset();
  lock_ = std::move(of_moved);
}

void Claim::give_up_move() {
  moved_.reset();
}

void Claim::release() {
  lock_.release();
  lock_of_new_.release();
}

std::string Claim::leave() {
  replacement_->leave();
  return replacement_->beside();
}

}  // namespace shoal
