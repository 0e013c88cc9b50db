// SPDX-License-Identifier: BSD-3-Clause
#include "driver/claimed/claim.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "driver/file/mpi_info.hpp"
#include "format/catalog.hpp"
#include "format/format_traits.hpp"
#include "format/raw/raw_header.hpp"
#include "storage/directory_sync.hpp"
#include "storage/leftovers.hpp"
#include "storage/paths.hpp"
#include "storage/temporary_name.hpp"

namespace shoal {

namespace {

using Sharing = FileSystem::Sharing;

Sharing sharing_of(const std::string& path, const SystemOptions& system) {
  FileSystem where;
  caught([&] { where = system.find_file_system(path); });  // who cannot ask hears why when it opens
  return where.sharing;
}

bool is_a_dataset_folder(const std::string& path) {
  return header_file_of(path) != path;
}

// OMPIO locks whole files where it takes a file system for a shared one, and waits for that for ever.
bool library_locks_all(const std::string& path, Sharing sharing) {
  return is_ompio(path) && sharing != Sharing::local;
}

// HDF5 locks whole files (flock), which clients of NFS and SMB make of the same locks as Shoal's: its readers
// would be refused, and driver gather by its own job.
bool hdf5_meets_lock(const std::string& path, OpenMode mode, Format format, Sharing sharing,
                     const SystemOptions& system) {
  if (sharing == Sharing::local || sharing == Sharing::unknown) return false;
  const auto is_hdf5 = [](Format f) { return traits_of(f).has_chunks && !traits_of(f).holds_objects(); };
  if (mode != OpenMode::write) return is_hdf5(format);
  Format found = format;
  caught([&] { found = recognise(*system.open_store(path, StoreMode::read)); });
  return is_hdf5(found);
}

// Ranks then open the file by its name when they first need it.
bool library_opens_later(const Hints& hints) {
  return std::any_of(hints.begin(), hints.end(),
                     [](const auto& hint) { return hint.first == "romio_no_indep_rw"; });
}

}  // namespace

Claim::Claim(const std::string& path, OpenMode mode, Format format, const DriverOptions& options,
             bool calls_mpi_io)
    : path_(path),
      mode_(mode),
      sharing_(sharing_of(path, options.system)),
      format_(format),
      locks_name_(options.file.locks),
      locks_(options.file.locks && !(calls_mpi_io && library_locks_all(path, sharing_)) &&
             !hdf5_meets_lock(path, mode, format, sharing_, options.system)) {
  if (mode_ != OpenMode::read) refuse_special(path_);  // libraries remove what they cannot write
  lock(lock_, path_);
  if (calls_mpi_io && library_opens_later(options.library.hints))
    why_not_movable_ = "hint romio_no_indep_rw lets ranks open the file by its name later";
  if (mode_ == OpenMode::create || mode_ == OpenMode::create_exclusive) choose_place(format, options);
}

void Claim::choose_place(Format format, const DriverOptions& options) {
  const OpenMode asked = mode_;
  // If somebody else makes one now, it is not emptied.
  const bool is_new = is_free_name(path_);
  if (is_new) mode_ = OpenMode::create_exclusive;
  if (traits_of(format).holds_objects() && is_a_folder(path_)) refuse_other_folder();
  if (!options.file.replace_at_commit) return remove_old_folder();
  if (is_new && is_temporary_name(path_)) return;  // a tool's, which lies beside its place already
  if (!is_new &&
      (mode_ != OpenMode::create || !(is_a_file(path_) || is_a_dataset_folder(path_)) || !may_write(path_)))
    return;  // the driver says what is wrong
  if (traits_of(format).has_header_file) refuse_foreign_header(path_);
  const std::string why_not = !why_not_movable_.empty() ? why_not_movable_
                              : is_new                  ? std::string()
                                                        : why_not_replaceable(path_);
  if (!why_not.empty()) return replace_at_once(why_not);
  if (!lock_name(is_new)) {
    mode_ = asked;
    return choose_place(format, options);
  }
  const std::vector<std::string> suffixes = traits_of(format).has_header_file
                                                ? std::vector<std::string>{header_path("")}
                                                : std::vector<std::string>{};
  replacement_ = std::make_unique<Replacement>(path_, suffixes,
                                               is_new                       ? Replacement::What::of_free_name
                                               : is_a_dataset_folder(path_) ? Replacement::What::of_folder
                                                                            : Replacement::What::of_file);
  name_lock_.note(replacement_->beside());
  mode_ = OpenMode::create_exclusive;
}

void Claim::refuse_other_folder() const {
  if (is_a_dataset_folder(path_)) return;
  throw Error(Code::exists,
              "it is a folder that holds no dataset, and is not replaced by one; choose another name, or "
              "remove the folder")
      .in_file(path_);
}

void Claim::remove_old_folder() {
  if (mode_ != OpenMode::create || !(traits_of(format_).holds_objects() || is_a_dataset_folder(path_)))
    return;
  if (!is_a_file(path_) && !is_a_dataset_folder(path_)) return;  // the driver says what is wrong
  const std::string target = target_of(path_);
  remove_all(target);
  // The place that a link leads to is made again: nothing can be made exclusively through a link to nothing.
  if (kind_of_name(path_) != PathKind::link)
    mode_ = OpenMode::create_exclusive;
  else if (traits_of(format_).holds_objects())
    make_folders(target);
}

// Whoever has the lock of the name gives it up only once the file has the name: it may have it now.
bool Claim::lock_name(bool is_new) {
  if (!locks_name_) return true;
  take(name_lock_.take(target_of(path_), sharing_ == Sharing::local), name_lock_.reason());
  if (!is_new || is_free_name(path_)) return true;
  name_lock_.release();
  lock(lock_, path_);
  return false;
}

void Claim::replace_at_once(const std::string& why) {
  const bool is_new = is_free_name(path_);
  replacement_.reset();
  name_lock_.release();
  lock_of_new_.release();
  mode_ = is_new ? OpenMode::create_exclusive : OpenMode::create;
  if (is_new) return;
  remove_old_folder();
  warnings_.push_back(
      fmt::format("the file that is there is replaced at once, and not when the new one is committed: {}; "
                  "with replace=at_once this is not said",
                  why));
}

void Claim::lock(FileLock& lock, const std::string& file) {
  if (locks_) take(lock.take(file), lock.reason());
}

void Claim::take(FileLock::Outcome outcome, const std::string& reason) {
  if (outcome == FileLock::Outcome::taken)
    throw Error(Code::state,
                "the file is open for writing already, in another job or by another dataset of this one; "
                "close it there first, wait for that job, or choose another name (lock=off looks at no "
                "locks: two that write one file mix their bytes)")
        .in_file(path_);
  if (outcome != FileLock::Outcome::not_possible) return;
  locks_ = false;
  locks_name_ = false;
  warnings_.push_back(
      fmt::format("the file cannot be locked ({}), so that another job that writes it too would not be "
                  "noticed; with lock=off this is not said",
                  reason));
}

void Claim::opened() {
  if (replacement_) {
    replacement_->take_over_rights();
    if (!lock_of_new_.is_of(replacement_->beside())) lock(lock_of_new_, replacement_->beside());
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
  if (is_a_folder(path_)) refuse_other_folder();
  replacement_->commit(durable);
  name_is_durable_ = durable;
  replacement_.reset();
  name_lock_.release();
  lock_ = std::move(lock_of_new_);
  lock_of_new_.release();
}

const std::string& Claim::begin_move(bool several_nodes) {
  const std::string why_not = !why_not_movable_.empty() ? why_not_movable_
                              : several_nodes && sharing_ == Sharing::cached
                                  ? std::string(why_not_with_nodes())
                              : replacement_ ? std::string()
                                             : why_not_replaceable(path_);
  if (!why_not.empty())
    throw Error(Code::not_supported,
                "the definitions have no place in front of the data, which has to move to a new file that "
                "takes the place of this one, and that cannot be: {}; define everything before the first "
                "data are written, or create the file with more header_reserve",
                why_not)
        .in_file(path_);
  if (!replacement_ && locks_name_) name_lock_.take(target_of(path_), sharing_ == Sharing::local);
  moved_ = std::make_unique<Replacement>(path_, std::vector<std::string>{},
                                         replacement_ ? replacement_->what() : Replacement::What::of_file);
  name_lock_.note(moved_->beside());
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
  name_lock_.release();
  lock_ = std::move(of_moved);
}

void Claim::give_up_move() {
  moved_.reset();
  if (!replacement_) name_lock_.release();
}

void Claim::release() {
  lock_.release();
  lock_of_new_.release();
}

std::string Claim::keep() {
  const std::string kept = replacement_->keep();
  name_lock_.forget();
  return kept;
}

}  // namespace shoal
