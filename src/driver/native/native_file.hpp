// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "driver/driver.hpp"
#include "storage/replacement.hpp"

namespace shoal {

/// This rank's handle of the data file, with counters. It is opened by the first store or fetch; most ranks
/// of a large job never open it.
class NativeFile {
 public:
  NativeFile(std::string path, bool writable, StoreOpener open, Counters& counters)
      : path_(std::move(path)), writable_(writable), open_(std::move(open)), counters_(counters) {}

  const std::string& path() const { return path_; }
  const StoreOpener& opener() const { return open_; }

  /// For a file that is only read: opening it is an Error(state) if it was replaced by another of its name
  /// since the header was read. file: its inode number (file_number).
  void stays(std::uint64_t file) { number_ = file; }
  /// Opens the file now.
  void open_now() { store(); }

  /// Called before each write, with the number of its bytes.
  void set_rate_limiter(std::function<void(std::int64_t)> rate_limiter) {
    rate_limiter_ = std::move(rate_limiter);
  }

  /// From now on writes are Store::write_past_cache.
  void set_past_cache(bool past_cache) { past_cache_ = past_cache; }

  void write(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (rate_limiter_) rate_limiter_(static_cast<std::int64_t>(bytes.size()));
    const Timer timer(counters_.store);
    if (past_cache_)
      counters_.bytes_past_cache += static_cast<std::int64_t>(store().write_past_cache(offset, bytes));
    else
      store().write(offset, bytes);
    unsynced_ = true;
    ++counters_.writes;
    counters_.bytes_written += static_cast<std::int64_t>(bytes.size());
  }
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) {
    const Timer timer(counters_.read);
    const std::size_t n = store().read(offset, bytes);
    ++counters_.reads;
    counters_.bytes_read += static_cast<std::int64_t>(n);
    return n;
  }
  /// As Store::send.
  void send() {
    if (unsynced_) store_->send();
  }
  /// Syncs the file, if this rank wrote since the last time.
  void sync() {
    if (unsynced_) store_->sync();
    unsynced_ = false;
  }
  void close() {
    if (store_) store_->close();
    store_.reset();
  }

 private:
  Store& store() {
    if (!store_) {
      auto store = open_(path_, writable_ ? StoreMode::write : StoreMode::read);
      check_replaced(path_, number_);
      store_ = std::move(store);
    }
    return *store_;
  }
  std::string path_;
  bool writable_;
  StoreOpener open_;
  Counters& counters_;
  std::function<void(std::int64_t)> rate_limiter_;
  std::unique_ptr<Store> store_;
  std::uint64_t number_ = 0;
  bool unsynced_ = false;
  bool past_cache_ = false;
};

}  // namespace shoal
