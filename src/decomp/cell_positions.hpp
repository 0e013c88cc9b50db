// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/comm.hpp"

namespace shoal {

/// A list of some of the cells 0 .. cells - 1, kept in parts by all ranks together: where in the list is a
/// cell? Each rank keeps what the list has of its even part of the cells, 24 bytes a run of cells that follow
/// each other in both. (Active points, and where they lie in a gathered dimension.)
class CellPositions {
 public:
  /// The list of all cells that any rank has, in order of cell. own: this rank's, in any order; k_hole: none.
  /// Error(overlap) on all ranks alike: a cell comes twice. Collective.
  static CellPositions numbered(const Comm& comm, std::int64_t cells, std::span<const std::int64_t> own);
  /// The list that ranks have parts of: listed[i] is at position first + i. Error(format) on all ranks alike,
  /// with cell and positions: a cell outside, or twice. Collective.
  static CellPositions of_list(const Comm& comm, std::int64_t cells, std::int64_t first,
                               std::span<const std::int64_t> listed);

  /// Entries of the whole list.
  std::int64_t size() const { return size_; }
  /// The position of each of these cells (any, also twice); k_hole for what is k_hole or not in the list.
  /// Collective.
  std::vector<std::int64_t> find(const Comm& comm, std::span<const std::int64_t> wanted) const;
  /// Of a list that was numbered: this rank's part of it, in order, and the position of its first entry.
  std::vector<std::int64_t> own_part() const;
  std::int64_t own_first() const { return own_first_; }

 private:
  /// Cells cell, cell + 1, ... at position, position + 1, ...
  struct Run {
    std::int64_t cell = 0, position = 0, length = 0;
  };
  static std::vector<Run> dealt(const Comm& comm, std::int64_t cells, std::span<const std::int64_t> own,
                                std::int64_t first);
  static void append(std::vector<Run>& runs, std::int64_t cell, std::int64_t position);
  void answer(const Run& question, std::vector<Run>& answers) const;
  const Run* first_twice() const;

  std::int64_t cells_ = 0, size_ = 0, own_first_ = 0;
  std::vector<Run> runs_;  // of this rank's part, in order of cell
};

}  // namespace shoal
