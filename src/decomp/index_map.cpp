// SPDX-License-Identifier: BSD-3-Clause
#include "decomp/index_map.hpp"

#include <limits>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/language.hpp"
#include "decomp/radix_sort.hpp"

namespace shoal {

namespace {
constexpr int k_low_bits = 32;
constexpr std::int64_t k_low = (std::int64_t{1} << k_low_bits) - 1;

/// Does the index begin a run, after that of the local cell before? No run reaches into the next page.
bool begins_run(std::int64_t before, std::int64_t index) {
  return before == k_hole || index != before + 1 || (index & k_low) == 0;
}

[[noreturn]] void refuse_index(std::int64_t local, std::int64_t index, std::int64_t global_cells) {
  throw Error(Code::invalid_argument,
              "the map's local cell {} ({}) has the global index {}; {} to {} are allowed, and {} for a hole",
              as_index(local), counted_from(), as_index(index), as_index(0), as_index(global_cells - 1),
              as_index(k_hole));
}
}  // namespace

/// What one look at the list says.
struct IndexMap::Scan {
  std::int64_t mapped = 0;
  std::int64_t runs = 0;
  bool sorted = true;
  std::uint64_t differ = 0;  // bits in which not all indices are the same
};

IndexMap::Scan IndexMap::scanned(std::span<const std::int64_t> cells, std::int64_t global_cells) {
  Scan scan;
  std::int64_t before = k_hole;   // the index of the cell before
  std::int64_t highest = k_hole;  // the last that was no hole
  std::int64_t all_bits = 0;
  std::int64_t common_bits = -1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::int64_t index = cells[i];
    if (index < k_hole || index >= global_cells)
      refuse_index(static_cast<std::int64_t>(i), index, global_cells);
    if (index != k_hole) {
      ++scan.mapped;
      all_bits |= index;
      common_bits &= index;
      if (begins_run(before, index)) ++scan.runs;
      if (index < highest) scan.sorted = false;
      highest = index;
    }
    before = index;
  }
  if (scan.mapped > 0) scan.differ = static_cast<std::uint64_t>(all_bits & ~common_bits);
  return scan;
}

IndexMap::IndexMap(std::span<const std::int64_t> cells, std::int64_t global_cells) {
  if (cells.size() > std::numeric_limits<std::uint32_t>::max())
    throw Error(Code::not_supported, "the map has {} local cells; fewer than 2^32 are possible on one rank",
                cells.size());
  const Scan scan = scanned(cells, global_cells);
  local_cells_ = static_cast<std::int64_t>(cells.size());
  mapped_cells_ = scan.mapped;
  runs_ = scan.runs;
  if (scan.mapped == 0) return;

  const auto in_pieces = static_cast<std::size_t>(scan.runs) * sizeof(Piece);
  const auto in_cells = static_cast<std::size_t>(scan.mapped) * sizeof(Cell);
  if (in_pieces < in_cells) {
    pieces_.reserve(scan.runs);
    std::int64_t before = k_hole;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::int64_t index = cells[i];
      if (index != k_hole) {
        if (begins_run(before, index))
          pieces_.push_back({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(i), 1});
        else
          ++pieces_.back().count;
      }
      before = index;
    }
    order(pieces_, cells, scan);
    if (!pieces_overlap()) return;
    std::vector<Piece>().swap(pieces_);
  }
  cells_.reserve(scan.mapped);
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (cells[i] != k_hole)
      cells_.push_back({static_cast<std::uint32_t>(cells[i]), static_cast<std::uint32_t>(i)});
  order(cells_, cells, scan);
  find_repeat();
}

/// Sorts them by global index, then by local cell, and finds the pages.
template <class Entry>
void IndexMap::order(std::vector<Entry>& entries, std::span<const std::int64_t> cells, const Scan& scan) {
  const auto high = [&](const Entry& e) { return cells[e.local] >> k_low_bits; };
  const std::uint64_t differ_high = scan.differ >> k_low_bits;
  if (!scan.sorted) {
    std::vector<Entry> spare;
    radix_sort(entries, spare, scan.differ & static_cast<std::uint64_t>(k_low),
               [](const Entry& e) { return std::uint64_t{e.low}; });
    radix_sort(entries, spare, differ_high,
               [&](const Entry& e) { return static_cast<std::uint64_t>(high(e)); });
  }
  pages_.assign(1, {high(entries.front()), 0});
  if (differ_high == 0) return;
  for (std::size_t i = 1; i < entries.size(); ++i)
    if (high(entries[i]) != pages_.back().high)
      pages_.push_back({high(entries[i]), static_cast<std::int64_t>(i)});
  pages_.shrink_to_fit();
}

/// Calls visit(high, first entry, end) for the entries of each page.
template <class Visit>
void IndexMap::for_each_page(std::int64_t entries, Visit&& visit) const {
  for (std::size_t p = 0; p < pages_.size(); ++p)
    visit(pages_[p].high, static_cast<std::size_t>(pages_[p].first_entry),
          static_cast<std::size_t>(p + 1 < pages_.size() ? pages_[p + 1].first_entry : entries));
}

bool IndexMap::pieces_overlap() const {
  bool overlap = false;
  for_each_page(static_cast<std::int64_t>(pieces_.size()),
                [&](std::int64_t, std::size_t first, std::size_t end) {
                  for (std::size_t i = first + 1; i < end && !overlap; ++i)
                    overlap = pieces_[i - 1].low + pieces_[i - 1].length() > pieces_[i].low;
                });
  return overlap;
}

void IndexMap::find_repeat() {
  for_each_page(
      static_cast<std::int64_t>(cells_.size()), [&](std::int64_t high, std::size_t first, std::size_t end) {
        for (std::size_t i = first + 1; i < end && !repeat_; ++i)
          if (cells_[i - 1].low == cells_[i].low)
            repeat_ = Repeat{(high << k_low_bits) + cells_[i].low, cells_[i - 1].local, cells_[i].local};
      });
}

void IndexMap::append_global(std::int64_t first, std::int64_t count) {
  constexpr std::int64_t k_longest = std::int64_t{1} << (k_low_bits - 1);  // that fits Piece::count
  mapped_cells_ += count;
  local_cells_ += count;
  while (count > 0) {
    const std::int64_t high = first >> k_low_bits;
    const std::int64_t n = std::min(count, k_longest - first % k_longest);
    if (pages_.empty() || pages_.back().high != high)
      pages_.push_back({high, static_cast<std::int64_t>(pieces_.size())});
    pieces_.push_back({static_cast<std::uint32_t>(first), 0, static_cast<std::uint32_t>(n)});
    ++runs_;
    first += n;
    count -= n;
  }
}

void IndexMap::compact() {
  if (pieces_.size() * sizeof(Piece) < static_cast<std::size_t>(mapped_cells_) * sizeof(Cell)) {
    pieces_.shrink_to_fit();
  } else {
    std::vector<Page> pages;
    cells_.reserve(mapped_cells_);
    for_each_page(static_cast<std::int64_t>(pieces_.size()),
                  [&](std::int64_t high, std::size_t first, std::size_t end) {
                    pages.push_back({high, static_cast<std::int64_t>(cells_.size())});
                    for (std::size_t i = first; i < end; ++i)
                      for (std::uint32_t k = 0; k < pieces_[i].count; ++k)
                        cells_.push_back({pieces_[i].low + k, 0});
                  });
    pages_ = std::move(pages);
    std::vector<Piece>().swap(pieces_);
  }
  pages_.shrink_to_fit();
}

std::int64_t IndexMap::bytes() const {
  return static_cast<std::int64_t>(sizeof(*this) + pages_.capacity() * sizeof(Page) +
                                   cells_.capacity() * sizeof(Cell) + pieces_.capacity() * sizeof(Piece));
}

}  // namespace shoal
