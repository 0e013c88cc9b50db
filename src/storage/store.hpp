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

/// Offsets and bytes of one file, of one rank. Not thread-safe unless an implementation says so. All calls
/// Local. Errors: Error(no_space, permission, io, not_found) with the path as file.
class Store {
 public:
  virtual ~Store() = default;
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  virtual const std::string& path() const = 0;
  /// All bytes are written, or an Error is thrown (short writes and EINTR are retried).
  virtual void write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  /// As write, but what is written need not stay in memory of the system for those who read it soon: large
  /// runs go to the device without a copy there, where the file system can do that. How many bytes did.
  virtual std::size_t write_past_cache(std::uint64_t offset, std::span<const std::byte> bytes) {
    write(offset, bytes);
    return 0;
  }
  /// Bytes read; less than asked only at the end of the file.
  virtual std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) = 0;
  virtual std::uint64_t size() = 0;
  /// Cut or extend (with zeros).
  virtual void resize(std::uint64_t size) = 0;
  /// Ask the system to begin to send to the device what was written so far. A hint; waits for nothing.
  virtual void send() {}
  /// Wait until the device has it (fdatasync).
  virtual void sync() = 0;
  /// Close; an error of the system comes out here. Further calls but the destructor are not allowed.
  virtual void close() = 0;
};

enum class StoreMode {
  create,            ///< new or emptied, read and write
  create_exclusive,  ///< must not exist
  read,
  write,  ///< must exist, read and write
};

/// How a Store is opened; tests put a faulty one in between.
using StoreOpener = std::function<std::unique_ptr<Store>(const std::string& path, StoreMode mode)>;

/// What a user can do about an errno of writing to the file, after "cannot write: No space left on device":
/// "; 0 bytes are free there: make space, ..."; empty where nothing is known. Local.
std::string write_advice(int error_number, const std::string& path);

/// Plain files: open, pwrite, pread.
std::unique_ptr<Store> open_posix_store(const std::string& path, StoreMode mode);

}  // namespace shoal
