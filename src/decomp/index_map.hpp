// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/numbered.hpp"

namespace shoal {

/// Marks a local cell that belongs to no global cell.
inline constexpr std::int64_t k_hole = -1;

/// Which global cell each of one rank's local cells is, from a list in any order. Kept in order of global
/// index, as runs of cells that follow each other in both, or cell by cell where that takes less: at most 8
/// bytes a cell (and a few for each 2^32 global cells).
class IndexMap {
 public:
  /// A run: local cells local, local + 1, ... are global cells global, global + 1, ...
  struct Run {
    std::int64_t global = 0, local = 0, length = 0;
  };

  IndexMap() = default;
  /// cells: the global index of each local cell, 0-based, below global_cells, or k_hole. An index may come
  /// more than once. Error(invalid_argument) names the local cell, its index and what is allowed;
  /// Error(not_supported): 2^32 or more local cells.
  IndexMap(std::span<const std::int64_t> cells, std::int64_t global_cells);
  /// Adds global cells behind all others, which are no local cells (local is always 0), so there may be any
  /// number of them.
  void append_global(std::int64_t first, std::int64_t count);
  /// After the last of them: takes no more memory than needed.
  void compact();

  std::int64_t local_cells() const { return local_cells_; }    ///< the length of the list, holes too
  std::int64_t mapped_cells() const { return mapped_cells_; }  ///< that are no holes
  /// Of cells that follow each other in the list and in the global cells (which end at each multiple of
  /// 2^32).
  std::int64_t runs() const { return runs_; }
  std::int64_t bytes() const;  ///< of memory that this map takes
  bool empty() const { return mapped_cells_ == 0; }

  /// A global index that two local cells have, and these.
  struct Repeat {
    std::int64_t global = 0, local_a = 0, local_b = 0;
  };
  /// The lowest of them.
  const std::optional<Repeat>& repeat() const { return repeat_; }

  /// Calls visit(const Run&) for what lies in the global cells first .. end - 1, clipped to them, in order of
  /// global index. An index that comes twice is visited twice. Runs that follow each other in both may come
  /// as several.
  template <class Visit>
  void for_each_run(std::int64_t first, std::int64_t end, Visit&& visit) const {
    if (cells_.empty())
      visit_entries(pieces_, first, end, visit);
    else
      visit_entries(cells_, first, end, visit);
  }

 private:
  // The two forms. low: of the global index.
  struct Cell {
    std::uint32_t low, local;
    std::int64_t length() const { return 1; }
  };
  struct Piece {
    std::uint32_t low, local, count;
    std::int64_t length() const { return count; }
  };
  // From this entry on, the high 32 bits of the global index. No piece reaches into the next page.
  struct Page {
    std::int64_t high, first_entry;
  };
  struct Scan;
  static Scan scanned(std::span<const std::int64_t> cells, std::int64_t global_cells);
  template <class Entry>
  void order(std::vector<Entry>& entries, std::span<const std::int64_t> cells, const Scan& scan);
  template <class Visit>
  void for_each_page(std::int64_t entries, Visit&& visit) const;
  bool pieces_overlap() const;
  void find_repeat();

  template <class Entry, class Visit>
  void visit_entries(const std::vector<Entry>& entries, std::int64_t first, std::int64_t end,
                     Visit& visit) const;

  std::vector<Page> pages_;
  Numbered<Cell> cells_;  // one of these two is empty
  Numbered<Piece> pieces_;
  std::int64_t local_cells_ = 0;
  std::int64_t mapped_cells_ = 0;
  std::int64_t runs_ = 0;
  std::optional<Repeat> repeat_;
};

template <class Entry, class Visit>
inline void IndexMap::visit_entries(const std::vector<Entry>& entries, std::int64_t first, std::int64_t end,
                                    Visit& visit) const {
  constexpr std::int64_t k_page = std::int64_t{1} << 32;
  if (first >= end) return;
  auto page = std::partition_point(pages_.begin(), pages_.end(),
                                   [&](const Page& p) { return p.high < first / k_page; });
  for (; page != pages_.end() && page->high * k_page < end; ++page) {
    const std::int64_t base = page->high * k_page;
    const std::int64_t from = std::max<std::int64_t>(first - base, 0);
    const std::int64_t to = std::min(end - base, k_page);
    const Entry* const start = entries.data() + page->first_entry;
    const Entry* const stop =
        entries.data() +
        (page + 1 == pages_.end() ? static_cast<std::int64_t>(entries.size()) : (page + 1)->first_entry);
    const Entry* at = std::partition_point(start, stop, [&](const Entry& e) { return e.low < from; });
    // What begins before may reach in: only the last, as an entry ends at most one cell into the next.
    if (at != start && (at - 1)->low + (at - 1)->length() > from) --at;
    for (; at != stop && at->low < to; ++at) {
      const std::int64_t skip = std::max<std::int64_t>(from - at->low, 0);
      const std::int64_t length = std::min(at->length(), to - at->low) - skip;
      visit(Run{base + at->low + skip, at->local + skip, length});
    }
  }
}

}  // namespace shoal
