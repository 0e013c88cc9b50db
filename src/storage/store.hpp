// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "storage/file_system.hpp"

namespace shoal {

/// An open file of one rank: bytes at offsets. Not thread-safe unless an implementation says so. All calls
/// are Local. Errors: Error(no_space, permission, io, not_found) with the path as file.
class Store {
 public:
  virtual ~Store() = default;
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  virtual const std::string& path() const = 0;
  /// All bytes are written, or an Error is thrown (short writes and EINTR are retried).
  virtual void write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  /// write, but large runs may go to the device without a copy in the page cache. Returns the bytes that did.
  virtual std::size_t write_past_cache(std::uint64_t offset, std::span<const std::byte> bytes) {
    write(offset, bytes);
    return 0;
  }
  /// Reads, and returns the bytes read: fewer than asked for only at the end of the file.
  virtual std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) = 0;
  virtual std::uint64_t size() = 0;
  /// Cuts the file, or extends it with zeros.
  virtual void resize(std::uint64_t size) = 0;
  /// A hint to the system to begin to send what was written to the device. Does not wait.
  virtual void send() {}
  /// Waits until the device has what was written (fdatasync).
  virtual void sync() = 0;
  /// Closes; reports errors of the system. No call but the destructor may follow.
  virtual void close() = 0;
};

enum class StoreMode {
  create,            ///< new or emptied, read and write
  create_exclusive,  ///< must not exist
  read,
  write,            ///< must exist, read and write
  write_or_create,  ///< new or as it is, read and write
};

/// Opens a Store; tests replace it by one that fails.
using StoreOpener = std::function<std::unique_ptr<Store>(const std::string& path, StoreMode mode)>;

/// Advice on an errno of a write to the file, to follow "cannot write: No space left on device":
/// "; 0 bytes are free there: make space, ..."; empty: none. Local.
std::string write_advice(int error_number, const std::string& path);

/// A Store over a file of the system: open, pwrite, pread.
std::unique_ptr<Store> open_posix_store(const std::string& path, StoreMode mode);

}  // namespace shoal
