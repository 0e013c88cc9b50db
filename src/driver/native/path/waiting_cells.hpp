// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "base/box.hpp"
#include "base/bytes.hpp"

namespace shoal {

/// Cells that a rank has written alone and that wait in its memory, in the order of calls.
class WaitingCells {
 public:
  bool empty() const { return boxes_.empty(); }
  /// Of that variable?
  bool has(int variable) const { return variables_.contains(variable); }
  /// Of cells, and of what is known of them.
  std::int64_t bytes() const { return bytes_; }
  static std::int64_t bytes_of(const Box& box, std::size_t size);

  /// The cells of a box, row-major, each of so many bytes.
  void add(int variable, const Box& box, const std::byte* cells, std::size_t size);
  /// Whatever waits of the region is given up. Is all of that in `within`?
  bool hide(int variable, const Box& region, const Box& within);
  void clear();

  /// Calls visit(variable, box, its cells row-major) for all that is left, in order; of cells that were
  /// written twice both.
  void for_each(const std::function<void(int variable, const Box& box, const std::byte* cells)>& visit) const;
  /// Copies what waits of a box over the cells, which lie there row-major.
  void copy_to(int variable, const Box& box, std::byte* cells) const;

 private:
  struct WaitingBox {
    int variable;
    std::size_t size;  ///< of an element
    Box box;
    Bytes cells;
    std::vector<Box> hidden;  ///< what does not count any more
  };
  static bool goes_on(const WaitingBox& before, int variable, const Box& box, int& along);

  std::vector<WaitingBox> boxes_;
  std::set<int> variables_;
  std::int64_t bytes_ = 0;
};

}  // namespace shoal
