// SPDX-License-Identifier: BSD-3-Clause
// What all parts of the model measure in.
#pragma once

#include <cstdint>

namespace shoal::lab {

/// Seconds of the model: since its begin, or a duration.
using Seconds = double;

/// A byte range: [begin, end).
struct Extent {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t bytes() const { return end - begin; }
  bool empty() const { return end <= begin; }
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// Of clients and servers alike.
inline constexpr std::int64_t k_memory_page = 4096;

/// A client is a node: everything on it shares one cache, one link and one set of locks. Counted from 0.
using ClientId = int;
/// The number of a file (its inode). A number is used again after `Model::remove_file`.
using FileId = std::uint64_t;

/// What clients ask for.
enum class Operation {
  open,
  create,
  stat,
  rename,
  remove,
  mkdir,
  readdir,
  truncate,
  read,
  write,
  fsync,
  close,
  lock
};

}  // namespace shoal::lab
