// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/object_files.hpp"

#include <algorithm>
#include <utility>

#include "storage/paths.hpp"
#include "storage/remote/remote_path.hpp"
#include "storage/replacement.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_most_open = 16;

}  // namespace

ObjectFiles::ObjectFiles(std::string path, bool writable, const SystemOptions& system, Counters& counters)
    : path_(std::move(path)),
      writable_(writable),
      open_store_(system.open_store),
      open_folder_(system.open_folder),
      counters_(counters),
      names_(std::make_shared<ObjectNames>()) {}

ObjectFiles::ObjectFiles(const ObjectFiles& same, Counters& counters)
    : path_(same.path_),
      writable_(same.writable_),
      open_store_(same.open_store_),
      open_folder_(same.open_folder_),
      counters_(counters),
      names_(same.names_) {}

void ObjectFiles::set_names(Format format, const Numbered<Placement>& placements) {
  names_->set(format, placements);
}

std::string ObjectFiles::path_of(const Location& at) const {
  return names_->are_many() ? joined_path(shown_path(path_), names_->name_of(at.object)) : shown_path(path_);
}

Container& ObjectFiles::folder() {
  if (!folder_) folder_ = open_folder_ ? open_folder_(path_) : folder_container(path_, open_store_);
  return *folder_;
}

bool ObjectFiles::stores_whole() {
  if (!stores_whole_) stores_whole_ = names_->are_many() && folder().stores_whole();
  return *stores_whole_;
}

void ObjectFiles::open_now() {
  if (!names_->are_many()) find(0, writable_);
}

std::unique_ptr<Store> ObjectFiles::open(std::uint64_t object, bool writes) {
  std::unique_ptr<Store> store;
  if (!names_->are_many()) {
    store = open_store_(path_, writable_ ? StoreMode::write : StoreMode::read);
  } else {
    const std::string name = names_->name_of(object);
    // Whoever stores first in an object makes it.
    const StoreMode mode = writes      ? StoreMode::write_or_create
                           : writable_ ? StoreMode::write
                                       : StoreMode::read;
    try {
      store = folder().open(name, mode);
    } catch (const Error& e) {
      if (writes || e.code() != Code::not_found) throw;
    }
  }
  check_replaced(path_, number_);
  return store;
}

Store* ObjectFiles::find(std::uint64_t object, bool writes) {
  if (!opened_.empty() && opened_.back().object == object) return opened_.back().store.get();
  const auto known =
      std::find_if(opened_.begin(), opened_.end(), [&](const Opened& o) { return o.object == object; });
  if (known != opened_.end()) {
    std::rotate(known, known + 1, opened_.end());
  } else {
    auto store = open(object, writes);
    if (!store) return nullptr;
    if (opened_.size() == k_most_open) {
      opened_.front().store->close();
      opened_.erase(opened_.begin());
    }
    opened_.push_back({object, std::move(store)});
  }
  return opened_.back().store.get();
}

void ObjectFiles::write(const Location& at, std::span<const std::byte> bytes) {
  if (rate_limiter_) rate_limiter_(static_cast<std::int64_t>(bytes.size()));
  const Timer timer(counters_.store);
  ++counters_.writes;
  counters_.bytes_written += static_cast<std::int64_t>(bytes.size());
  if (stores_whole()) return put(at, bytes);
  Store& store = *find(at.object, true);
  if (past_cache_)
    counters_.bytes_past_cache += static_cast<std::int64_t>(store.write_past_cache(at.offset, bytes));
  else
    store.write(at.offset, bytes);
  const bool is_new = unsynced_.insert(at.object).second;
  if (is_new && ObjectNumber::of(at.object).draft != 0) drafts_.push_back(at.object);
}

// No rank keeps it open where others may store it again.
void ObjectFiles::put(const Location& at, std::span<const std::byte> bytes) {
  if (at.offset != 0) throw Error(Code::internal, "an object that is stored as a whole has no offsets");
  folder().put(names_->name_of(at.object), bytes);
}

std::size_t ObjectFiles::read(const Location& at, std::span<std::byte> bytes) {
  const Timer timer(counters_.read);
  Store* const store = find(at.object, false);
  const std::size_t n = store != nullptr ? store->read(at.offset, bytes) : 0;
  if (writable_ && stores_whole()) opened_.clear();
  ++counters_.reads;
  counters_.bytes_read += static_cast<std::int64_t>(n);
  return n;
}

void ObjectFiles::send() {
  for (const Opened& opened : opened_)
    if (unsynced_.contains(opened.object)) opened.store->send();
}

// Also those that were closed meanwhile: a sync is of all that was written to a file, by whatever handle.
void ObjectFiles::sync() {
  while (!unsynced_.empty()) {
    const std::uint64_t object = *unsynced_.begin();
    Store* const store = find(object, !names_->are_many());
    if (store != nullptr) store->sync();  // one that is gone was replaced
    if (store != nullptr && names_->are_many()) folder().sync_name(names_->name_of(object));
    unsynced_.erase(object);
  }
}

// What is open may be the object that was replaced.
void ObjectFiles::note_committed() {
  if (!names_->are_many()) return;
  close();
  for (const std::uint64_t object : std::exchange(drafts_, {})) {
    if (unsynced_.erase(object) == 0) continue;
    ObjectNumber number = ObjectNumber::of(object);
    number.draft = 0;
    unsynced_.insert(number.number());
  }
}

void ObjectFiles::close() {
  for (const Opened& opened : std::exchange(opened_, {}))
    opened.store->close();
}

}  // namespace shoal
