// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "storage/location.hpp"

namespace shoal {

/// Where ranks take space for chunks of any size, in objects that several ranks append to. A table in memory
/// that is zero at first, and that ranks may share: the catalog owner opens objects, any rank takes space.
///
/// An object is called by the number by which its chunks are known; its bytes may go to another object, a
/// draft, which takes its name at the commit.
class ObjectEnds {
 public:
  struct Entry {
    std::atomic<std::uint64_t> object;  ///< 0: free
    std::atomic<std::uint64_t> target;
    std::atomic<std::uint64_t> end;
  };
  /// Objects that may be open at a time: half of the entries, so that each is soon found.
  static constexpr std::size_t k_most = 16384;
  static constexpr std::size_t k_entries = 2 * k_most;
  static constexpr std::size_t k_bytes = (k_entries + 1) * sizeof(Entry);

  ObjectEnds() = default;
  /// entries: k_entries of them and one more, zero where no other rank has begun to use them.
  explicit ObjectEnds(Entry* entries) : entries_(entries) {}

  bool is_there() const { return entries_ != nullptr; }
  /// Opens an object, unless it is open. By one rank. Error(internal): there are k_most already.
  void open(std::uint64_t object, std::uint64_t target, std::uint64_t end);
  bool is_open(std::uint64_t object) const { return find(object) != nullptr; }
  /// Takes so many bytes at the end of an open object. By any rank or thread. Error(internal): not open.
  Location take(std::uint64_t object, std::uint64_t bytes) const;
  /// Closes all, while nobody takes space.
  void clear();

 private:
  Entry* find(std::uint64_t object) const;

  std::atomic<std::uint64_t>& opened() const { return entries_[k_entries].object; }

  Entry* entries_ = nullptr;
};

/// Where ranks take space for chunks: at the end of a file, or of objects of a dataset that has many.
struct SharedSpace {
  std::atomic<std::uint64_t>* file_end = nullptr;  ///< nullptr: the catalog keeps it
  ObjectEnds objects;

  /// object 0: the file.
  Location take(std::uint64_t object, std::uint64_t bytes) const {
    return object == 0 ? Location{0, file_end->fetch_add(bytes)} : objects.take(object, bytes);
  }
};

}  // namespace shoal
