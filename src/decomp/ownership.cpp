// SPDX-License-Identifier: BSD-3-Clause
#include "decomp/ownership.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "decomp/radix_sort.hpp"

namespace shoal {

namespace {

constexpr std::int64_t k_none = std::numeric_limits<std::int64_t>::max();

/// The first cell of an even part; parts differ by at most one cell.
std::int64_t part_begin(std::int64_t cells, int parts, int part) {
  return cells / parts * part + std::min<std::int64_t>(cells % parts, part);
}

// A list of runs as bytes: how far each begins behind the one before, twice, plus one if its length follows;
// numbers have seven bits a byte. A scattered cell takes one to three bytes.
void put_number(Bytes& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7)
    out.push_back(static_cast<std::byte>(value | 128));
  out.push_back(static_cast<std::byte>(value));
}

Bytes packed_runs(const IndexMap& map, std::int64_t first, std::int64_t end) {
  Bytes out;
  std::int64_t before = first;
  map.for_each_run(first, end, [&](const IndexMap::Run& run) {
    const auto delta = static_cast<std::uint64_t>(run.global - before);
    before = run.global;
    put_number(out, delta << 1 | (run.length > 1 ? 1 : 0));
    if (run.length > 1) put_number(out, static_cast<std::uint64_t>(run.length));
  });
  return out;
}

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

/// What a rank finds in its part. gaps: what nobody has.
struct Found {
  std::int64_t repeated = k_none;
  int rank_a = -1, rank_b = -1;
  std::int64_t owned = 0;
  IndexMap gaps;
};

/// Goes through runs in order of their first cell.
class Sweep {
 public:
  explicit Sweep(std::int64_t base) : base_(base) {}
  void add(const Held& run) {
    const std::int64_t end = run.first + run.length;
    if (run.first < reached_ && found_.repeated == k_none) {
      found_.repeated = base_ + run.first;
      found_.rank_a = std::min(rank_, run.rank);
      found_.rank_b = std::max(rank_, run.rank);
    }
    if (run.first > reached_) found_.gaps.append_global(base_ + reached_, run.first - reached_);
    if (end <= reached_) return;
    found_.owned += end - std::max(reached_, run.first);
    reached_ = end;
    rank_ = run.rank;
  }
  Found finish(std::int64_t cells) {
    if (cells > reached_) found_.gaps.append_global(base_ + reached_, cells - reached_);
    found_.gaps.compact();
    return std::move(found_);
  }

 private:
  std::int64_t base_;
  std::int64_t reached_ = 0;
  int rank_ = -1;  // who has the cell before `reached_`
  Found found_;
};

/// The runs of all ranks in one part of `cells` cells from `base` on. Sorted in windows of as many runs as a
/// cache holds, by the window that they begin in.
Found looked_through(const std::vector<Bytes>& parts, std::int64_t base, std::int64_t cells) {
  constexpr std::int64_t k_window_bytes = 1 << 16;
  std::vector<RunReader> readers;
  std::int64_t bytes = 0;
  for (std::size_t r = 0; r < parts.size(); ++r) {
    if (!parts[r].empty()) readers.emplace_back(parts[r], static_cast<int>(r));
    bytes += static_cast<std::int64_t>(parts[r].size());
  }
  const std::int64_t windows = std::max<std::int64_t>(1, bytes / k_window_bytes);
  const std::int64_t width = std::max<std::int64_t>(1, (cells + windows - 1) / windows);
  Sweep sweep(base);
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
  return sweep.finish(cells);
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
std::optional<RepeatedCell> agreed_repeat(const Comm& comm, const IndexMap& map, const Found& found) {
  RepeatedCell out;
  out.index = comm.min(found.repeated);
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

Ownership ownership_of(const Comm& comm, const IndexMap& map, std::int64_t global_cells) {
  const auto begin = [&](int part) { return part_begin(global_cells, comm.size(), part); };
  std::vector<Bytes> parts;
  comm.agree_or_throw(caught([&] {
    for (int r = 0; r < comm.size(); ++r)
      parts.push_back(packed_runs(map, begin(r), begin(r + 1)));
  }));
  parts = comm.exchange(parts);

  Ownership out;
  Found found;
  comm.agree_or_throw(caught([&] {
    const std::int64_t first = begin(comm.rank());
    found = looked_through(parts, first, begin(comm.rank() + 1) - first);
  }));
  out.owned = comm.sum(found.owned);
  out.repeated = agreed_repeat(comm, map, found);
  out.unowned = std::move(found.gaps);
  return out;
}

}  // namespace shoal
