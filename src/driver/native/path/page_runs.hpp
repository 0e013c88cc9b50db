// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "driver/native/object_files.hpp"
#include "pack/pieces.hpp"

namespace shoal {

/// Stores a long run of the file in several writes, all but the last of which end at a page of the file: a
/// client reads a page from its server before it changes a part of it. The end of each write that lies within
/// a page waits for the next write.
class PageRuns {
 public:
  static constexpr std::int64_t k_page = 4096;  // bytes

  explicit PageRuns(ObjectFiles& file) : file_(file) {}

  /// `cells` lie behind k_page bytes of memory that this class may change. goes_on: with the first run of the
  /// next call.
  void write(std::byte* cells, const Extent& run, bool goes_on);
  /// Stores what waits.
  void finish();

 private:
  ObjectFiles& file_;
  std::array<std::byte, k_page> waiting_{};
  Location waiting_at_;
  std::int64_t waiting_bytes_ = 0;
};

}  // namespace shoal
