// SPDX-License-Identifier: BSD-3-Clause
#include "decomp/ownership.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "base/numbered.hpp"
#include "decomp/radix_sort.hpp"

namespace shoal {

namespace {

constexpr std::int64_t k_none = std::numeric_limits<std::int64_t>::max();

/// The part that has a cell.
int part_with(std::int64_t cells, int parts, std::int64_t cell) {
  const std::int64_t each = cells / parts;
  const std::int64_t more = cells % parts;
  const std::int64_t in_larger = more * (each + 1);
  return static_cast<int>(cell < in_larger ? cell / (each + 1) : more + (cell - in_larger) / each);
}

// A list of runs as bytes: how far each begins behind the one before, twice, plus one if its length follows;
// numbers have seven bits a byte. A scattered cell takes one to three bytes.
void put_number(Bytes& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7)
    out.push_back(static_cast<std::byte>(value | 128));
  out.push_back(static_cast<std::byte>(value));
}

/// Packs runs one after the other, of cells from `before` on.
class RunWriter {
 public:
  explicit RunWriter(std::int64_t before) : before_(before) {}
  void add(std::int64_t first, std::int64_t length) {
    const auto delta = static_cast<std::uint64_t>(first - before_);
    before_ = first;
    put_number(out_, delta << 1 | (length > 1 ? 1 : 0));
    if (length > 1) put_number(out_, static_cast<std::uint64_t>(length));
  }
  Bytes take() { return std::move(out_); }

 private:
  std::int64_t before_;
  Bytes out_;
};

/// Reads the runs of one rank again, one after the other; indices count from the part's first cell.
class RunReader {
 public:
  RunReader(const Bytes& bytes, int rank)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), rank_(rank) {
    next();
  }
  bool done() const { return length_ == 0; }
  std::int64_t first() const { return first_; }
  std::int64_t length() const { return length_; }
  int rank() const { return rank_; }
  void next() {
    if (at_ == end_) {
      length_ = 0;
      return;
    }
    const std::uint64_t word = number();
    first_ += static_cast<std::int64_t>(word >> 1);
    length_ = (word & 1) != 0 ? static_cast<std::int64_t>(number()) : 1;
  }

 private:
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(*at_++);
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  }
  const std::byte* at_;
  const std::byte* end_;
  int rank_;
  std::int64_t first_ = 0, length_ = 0;
};

struct Held {
  std::int64_t first, length;
  int rank;
};

/// Goes through runs in order of their first cell: which cells come twice, and which are nobody's.
class Sweep {
 public:
  explicit Sweep(std::int64_t base) : base_(base) {}
  void add(const Held& run) {
    const std::int64_t end = run.first + run.length;
    if (run.first < reached_ && found_.repeated < 0) {
      found_.repeated = base_ + run.first;
      found_.rank_a = std::min(rank_, run.rank);
      found_.rank_b = std::max(rank_, run.rank);
    }
    if (run.first > reached_) found_.unowned.append_global(base_ + reached_, run.first - reached_);
    if (end <= reached_) return;
    found_.owned += end - std::max(reached_, run.first);
    reached_ = end;
    rank_ = run.rank;
  }
  OwnedPart finish(std::int64_t cells) {
    if (cells > reached_) found_.unowned.append_global(base_ + reached_, cells - reached_);
    found_.unowned.compact();
    return std::move(found_);
  }

 private:
  std::int64_t base_;
  std::int64_t reached_ = 0;
  int rank_ = -1;  // who has the cell before `reached_`
  OwnedPart found_;
};

/// Goes through runs in the same order, and gives each cell to the lowest rank that has it.
class LowestRanks {
 public:
  void add(const Held& run) {
    give_until(run.first);
    open_.push({run.rank, run.first + run.length});
  }
  std::vector<RankMessage> finish(std::int64_t cells) {
    give_until(cells);
    std::vector<RankMessage> out;
    for (auto& [rank, kept] : kept_) {
      kept.writer.add(kept.first, kept.end - kept.first);
      out.push_back({rank, kept.writer.take()});
    }
    return out;
  }

 private:
  struct Open {
    int rank;
    std::int64_t end;
    bool operator>(const Open& other) const { return rank > other.rank; }
  };
  struct Kept {
    std::int64_t first, end;  // the run that may still grow
    RunWriter writer{0};
  };

  void give_until(std::int64_t end) {
    while (at_ < end && !open_.empty()) {
      const Open lowest = open_.top();
      if (lowest.end <= at_) {
        open_.pop();
        continue;
      }
      const std::int64_t until = std::min(lowest.end, end);
      Kept& kept = kept_.try_emplace(lowest.rank, Kept{at_, at_}).first->second;
      if (kept.end < at_) {
        kept.writer.add(kept.first, kept.end - kept.first);
        kept.first = at_;
      }
      kept.end = at_ = until;
    }
    at_ = std::max(at_, end);
  }

  std::int64_t at_ = 0;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;  // runs that began before at_
  std::map<int, Kept> kept_;
};

/// Adds runs to the sweep, sorted in windows of as many as a cache holds, by the window that they begin in.
template <class Swept>
void sweep_through(const std::vector<RankMessage>& parts, std::int64_t cells, Swept& sweep) {
  constexpr std::int64_t k_window_bytes = 1 << 16;
  std::vector<RunReader> readers;
  std::int64_t bytes = 0;
  for (const auto& part : parts) {
    readers.emplace_back(part.bytes, part.rank);
    bytes += static_cast<std::int64_t>(part.bytes.size());
  }
  const std::int64_t windows = std::max<std::int64_t>(1, bytes / k_window_bytes);
  const std::int64_t width = std::max<std::int64_t>(1, (cells + windows - 1) / windows);
  std::vector<Held> held;
  std::vector<Held> spare;
  for (std::int64_t start = 0; start < cells; start += width) {
    const std::int64_t end = std::min(start + width, cells);
    held.clear();
    for (auto& reader : readers)
      for (; !reader.done() && reader.first() < end; reader.next())
        held.push_back({reader.first(), reader.length(), reader.rank()});
    if (readers.size() > 1)
      radix_sort(held, spare, std::bit_ceil(static_cast<std::uint64_t>(width)) - 1,
                 [&](const Held& h) { return static_cast<std::uint64_t>(h.first - start); });
    for (const Held& h : held)
      sweep.add(h);
  }
}

/// The n-th local cell that has the global index; k_hole: none.
std::int64_t local_of(const IndexMap& map, std::int64_t index, int n) {
  std::int64_t local = k_hole;
  map.for_each_run(index, index + 1, [&](const IndexMap::Run& run) {
    if (n-- == 0) local = run.local;
  });
  return local;
}

/// Of what the ranks found in their parts, the lowest, on all ranks.
std::optional<RepeatedCell> agreed_repeat(const Comm& comm, const IndexMap& map, const OwnedPart& found) {
  RepeatedCell out;
  out.index = comm.min(found.repeated < 0 ? k_none : found.repeated);
  if (out.index == k_none) return std::nullopt;
  const bool mine = found.repeated == out.index;
  const auto ranks = comm.max(std::vector<std::int64_t>{mine ? found.rank_a : -1, mine ? found.rank_b : -1});
  out.rank_a = static_cast<int>(ranks[0]);
  out.rank_b = static_cast<int>(ranks[1]);
  const int nth_of_b = out.rank_a == out.rank_b ? 1 : 0;
  const auto locals = comm.max(
      std::vector<std::int64_t>{comm.rank() == out.rank_a ? local_of(map, out.index, 0) : k_hole,
                                comm.rank() == out.rank_b ? local_of(map, out.index, nth_of_b) : k_hole});
  out.local_a = locals[0];
  out.local_b = locals[1];
  return out;
}

}  // namespace

std::int64_t first_of_part(std::int64_t cells, int parts, int part) {
  return cells / parts * part + std::min<std::int64_t>(cells % parts, part);
}

std::vector<RankMessage> runs_by_part(const IndexMap& map, std::int64_t global_cells, int parts) {
  std::vector<RankMessage> out;
  RunWriter writer(0);
  std::int64_t end = 0;  // of the part that is written
  const auto finish = [&] {
    if (!out.empty()) out.back().bytes = writer.take();
  };
  map.for_each_run(0, global_cells, [&](const IndexMap::Run& run) {
    std::int64_t first = run.global;
    for (const std::int64_t stop = first + run.length; first < stop;) {
      if (first >= end) {
        finish();
        const int part = part_with(global_cells, parts, first);
        end = first_of_part(global_cells, parts, part + 1);
        writer = RunWriter(first_of_part(global_cells, parts, part));
        out.push_back({part, {}});
      }
      const std::int64_t length = std::min(stop, end) - first;
      writer.add(first, length);
      first += length;
    }
  });
  finish();
  return out;
}

OwnedPart ownership_of_part(const std::vector<RankMessage>& runs, std::int64_t global_cells, int parts,
                            int part) {
  const std::int64_t first = first_of_part(global_cells, parts, part);
  const std::int64_t cells = first_of_part(global_cells, parts, part + 1) - first;
  Sweep sweep(first);
  sweep_through(runs, cells, sweep);
  return sweep.finish(cells);
}

std::vector<RankMessage> kept_of_part(const std::vector<RankMessage>& runs, std::int64_t global_cells,
                                      int parts, int part) {
  const std::int64_t cells =
      first_of_part(global_cells, parts, part + 1) - first_of_part(global_cells, parts, part);
  LowestRanks sweep;
  sweep_through(runs, cells, sweep);
  return sweep.finish(cells);
}

Ownership ownership_of(const Comm& comm, const IndexMap& map, std::int64_t global_cells) {
  std::vector<RankMessage> parts;
  comm.agree_or_throw(caught([&] { parts = runs_by_part(map, global_cells, comm.size()); }));
  parts = comm.exchange(parts);

  Ownership out;
  OwnedPart found;
  comm.agree_or_throw(
      caught([&] { found = ownership_of_part(parts, global_cells, comm.size(), comm.rank()); }));
  out.owned = comm.sum(found.owned);
  out.repeated = agreed_repeat(comm, map, found);
  out.unowned = std::move(found.unowned);
  return out;
}

std::vector<std::int64_t> unique_cells(const Comm& comm, const IndexMap& map, std::int64_t global_cells) {
  std::vector<RankMessage> runs;
  comm.agree_or_throw(caught([&] { runs = runs_by_part(map, global_cells, comm.size()); }));
  runs = comm.exchange(runs);
  std::vector<RankMessage> kept;
  comm.agree_or_throw(caught([&] { kept = kept_of_part(runs, global_cells, comm.size(), comm.rank()); }));
  kept = comm.exchange(kept);

  Numbered<std::int64_t> cells;
  comm.agree_or_throw(caught([&] {
    cells.assign(map.local_cells(), k_hole);
    const auto cell = [&](std::int64_t local) -> std::int64_t& { return cells[local]; };
    for (const RankMessage& part : kept) {
      const std::int64_t base = first_of_part(global_cells, comm.size(), part.rank);
      for (RunReader run(part.bytes, part.rank); !run.done(); run.next()) {
        std::int64_t before = k_hole;  // where this list has the same cell, too: before it
        const std::int64_t first = base + run.first();
        map.for_each_run(first, first + run.length(), [&](const IndexMap::Run& piece) {
          if (before != k_hole && cell(before) == piece.global) cell(before) = k_hole;
          for (std::int64_t i = 0; i < piece.length; ++i)
            cell(piece.local + i) = piece.global + i;
          before = piece.local + piece.length - 1;
        });
      }
    }
  }));
  return cells;
}

}  // namespace shoal
