// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "format/placement.hpp"

namespace shoal {

/// A box of cells of a variable that lies in one chunk. In a stage its cells lie row-major, one piece after
/// another.
struct Piece {
  Box cells;
  Dims chunk_index;
};

/// The boxes of a cover, cut along chunk borders and to at most max_cells each, in the order of the cover and
/// row-major within. A piece larger than that is cut along its slowest dimensions, so that parts stay long in
/// the file.
void for_each_piece(const std::vector<Box>& cover, const Dims& chunk, std::int64_t max_cells,
                    const std::function<void(const Piece&)>& visit);

/// The box in parts of at most so many cells, row-major.
template <class Visit>
void for_each_part(const Box& box, std::int64_t max_cells, Visit&& visit) {
  Dims ends = box.count;
  for (int d = 0; d < ends.size(); ++d)
    ends[d] = box.end(d);
  for_each_piece({box}, ends, std::max<std::int64_t>(max_cells, 1),
                 [&](const Piece& piece) { visit(piece.cells); });
}

/// Bytes in a row in an object of the file and in memory: a stage, a buffer, or the model's array.
struct Extent {
  Location in_file;
  std::int64_t in_memory = 0;  ///< from the beginning of the memory
  std::int64_t bytes = 0;
};

/// Joins extents that follow each other in memory and file before they are handed on.
class ExtentMerger {
 public:
  explicit ExtentMerger(std::function<void(const Extent&)> visit) : visit_(std::move(visit)) {}
  void add(const Extent& extent) {
    if (last_.in_file + last_.bytes == extent.in_file && last_.in_memory + last_.bytes == extent.in_memory) {
      last_.bytes += extent.bytes;
      return;
    }
    flush();
    last_ = extent;
  }
  void flush() {
    if (last_.bytes > 0) visit_(last_);
    last_.bytes = 0;
  }

 private:
  std::function<void(const Extent&)> visit_;
  Extent last_;
};

/// The extents of a piece that lies at in_memory, in a chunk that lies at address.
void add_extents(const Piece& piece, const Dims& chunk, std::size_t element_size, const Location& address,
                 std::int64_t in_memory, ExtentMerger& merger);

}  // namespace shoal
