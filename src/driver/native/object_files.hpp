// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "driver/driver.hpp"
#include "driver/native/object_names.hpp"
#include "storage/container.hpp"
#include "storage/location.hpp"

namespace shoal {

/// This rank's handles of the objects of a dataset, with counters: of the file, where it is one. An object is
/// opened by the first store or fetch; most ranks of a large job never open one. A few stay open.
class ObjectFiles {
 public:
  ObjectFiles(std::string path, bool writable, const SystemOptions& system, Counters& counters);
  /// Handles of the same objects for another thread.
  ObjectFiles(const ObjectFiles& same, Counters& counters);

  const std::string& path() const { return path_; }

  /// Of an object, for messages.
  std::string path_of(const Location& at) const;
  /// The names of the objects, where the format has many, from now on.
  void set_names(Format format, const Numbered<Placement>& placements);
  /// For a dataset that is only read: opening an object is an Error(state) if the path was given to another
  /// one since the header was read. file: the inode number of the path (file_number).
  void stays(std::uint64_t file) { number_ = file; }
  /// Opens the file now; nothing to do where there are many objects.
  void open_now();

  /// Is an object stored as a whole (Container::stores_whole)? Then write puts one, at offset 0.
  bool stores_whole();

  /// Called before each write, with the number of its bytes.
  void set_rate_limiter(std::function<void(std::int64_t)> rate_limiter) {
    rate_limiter_ = std::move(rate_limiter);
  }

  /// From now on writes are Store::write_past_cache.
  void set_past_cache(bool past_cache) { past_cache_ = past_cache; }

  void write(const Location& at, std::span<const std::byte> bytes);
  /// Returns the bytes read: fewer at the end of an object, none where it is not there.
  std::size_t read(const Location& at, std::span<std::byte> bytes);
  /// As Store::send.
  void send();
  /// Syncs the objects that this rank wrote to since the last time.
  void sync();
  /// After a commit: drafts have the names of their objects, where those were replaced.
  void note_committed();
  void close();

 private:
  struct Opened {
    std::uint64_t object = 0;
    std::unique_ptr<Store> store;
  };
  /// nullptr: the object is not there, for reading.
  Store* find(std::uint64_t object, bool writes);
  std::unique_ptr<Store> open(std::uint64_t object, bool writes);
  Container& folder();
  void put(const Location& at, std::span<const std::byte> bytes);

  std::string path_;
  bool writable_;
  StoreOpener open_store_;
  ContainerOpener open_folder_;
  Counters& counters_;
  std::shared_ptr<ObjectNames> names_;
  std::shared_ptr<Container> folder_;  ///< of many objects; opened when it is needed
  std::optional<bool> stores_whole_;   ///< once it was asked for
  std::function<void(std::int64_t)> rate_limiter_;
  std::vector<Opened> opened_;         ///< what was used last stands last
  std::set<std::uint64_t> unsynced_;   ///< objects, open or not
  std::vector<std::uint64_t> drafts_;  ///< of those written since the last commit
  std::uint64_t number_ = 0;
  bool past_cache_ = false;
};

}  // namespace shoal
