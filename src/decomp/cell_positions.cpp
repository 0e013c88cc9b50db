// SPDX-License-Identifier: BSD-3-Clause
#include "decomp/cell_positions.hpp"

#include <algorithm>
#include <string>

#include "decomp/index_map.hpp"

namespace shoal {

namespace {

/// Even parts of the cells, one a rank.
struct Parts {
  std::int64_t cells;
  int count;
  std::int64_t begin(int part) const {
    return cells / count * part + std::min<std::int64_t>(cells % count, part);
  }
  int of(std::int64_t cell) const {
    const std::int64_t longer =
        cells % count * (cells / count + 1);  // cells of the parts that are one longer
    return static_cast<int>(cell < longer ? cell / (cells / count + 1)
                                          : cells % count + (cell - longer) / (cells / count));
  }
};

std::string numbers(std::int64_t a, std::int64_t b) {
  return std::to_string(a) + " and " + std::to_string(b);
}

}  // namespace

// Sent as runs to the ranks whose parts they are in. Cells outside are left out.
std::vector<CellPositions::Run> CellPositions::dealt(const Comm& comm, std::int64_t cells,
                                                     std::span<const std::int64_t> own, std::int64_t first) {
  const Parts parts{cells, comm.size()};
  std::vector<Bytes> messages(static_cast<std::size_t>(comm.size()));
  std::vector<std::vector<Run>> of_part(messages.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::int64_t cell = own[i];
    if (cell < 0 || cell >= cells) continue;
    const std::int64_t position = first + static_cast<std::int64_t>(i);
    auto& runs = of_part[static_cast<std::size_t>(parts.of(cell))];
    if (!runs.empty() && runs.back().cell + runs.back().length == cell &&
        runs.back().position + runs.back().length == position)
      ++runs.back().length;
    else
      runs.push_back({cell, position, 1});
  }
  for (std::size_t r = 0; r < messages.size(); ++r) {
    ByteWriter out;
    out.put(of_part[r]);
    if (!of_part[r].empty()) messages[r] = out.take();
  }
  std::vector<Run> mine;
  for (const auto& message : comm.exchange(messages)) {
    if (message.empty()) continue;
    std::vector<Run> runs;
    ByteReader(message).get(runs);
    mine.insert(mine.end(), runs.begin(), runs.end());
  }
  std::sort(mine.begin(), mine.end(), [](const Run& a, const Run& b) { return a.cell < b.cell; });
  return mine;
}

/// The first run that has a cell of the one before it.
const CellPositions::Run* CellPositions::first_twice() const {
  for (std::size_t i = 1; i < runs_.size(); ++i)
    if (runs_[i - 1].cell + runs_[i - 1].length > runs_[i].cell) return &runs_[i];
  return nullptr;
}

CellPositions CellPositions::numbered(const Comm& comm, std::int64_t cells,
                                      std::span<const std::int64_t> own) {
  CellPositions out;
  out.cells_ = cells;
  out.runs_ = dealt(comm, cells, own, 0);
  Status status;
  if (const Run* twice = out.first_twice())
    status = {Code::overlap,
              "cell " + std::to_string(twice->cell) +
                  " (from 0) is owned twice; water points can be gathered "
                  "only where each cell belongs to one rank, once",
              -1,
              {},
              {}};
  comm.agree_or_throw(status);
  std::int64_t count = 0;
  for (const Run& run : out.runs_)
    count += run.length;
  const auto counts = comm.all_gather(count);
  for (int r = 0; r < comm.size(); ++r) {
    if (r == comm.rank()) out.own_first_ = out.size_;
    out.size_ += counts[static_cast<std::size_t>(r)];
  }
  // Numbers follow each other in order of cell: runs that are neighbours become one.
  std::vector<Run> joined;
  std::int64_t next = out.own_first_;
  for (const Run& run : out.runs_) {
    if (!joined.empty() && joined.back().cell + joined.back().length == run.cell)
      joined.back().length += run.length;
    else
      joined.push_back({run.cell, next, run.length});
    next += run.length;
  }
  joined.shrink_to_fit();
  out.runs_ = std::move(joined);
  return out;
}

CellPositions CellPositions::of_list(const Comm& comm, std::int64_t cells, std::int64_t first,
                                     std::span<const std::int64_t> listed) {
  const Status outside = caught([&] {
    for (std::size_t i = 0; i < listed.size(); ++i)
      if (listed[i] < 0 || listed[i] >= cells)
        throw Error(Code::format, "the list has " + std::to_string(listed[i]) + " at position " +
                                      std::to_string(first + static_cast<std::int64_t>(i)) +
                                      " (from 0); cells are 0 to " + std::to_string(cells - 1));
  });
  comm.agree_or_throw(outside);
  CellPositions out;
  out.cells_ = cells;
  out.runs_ = dealt(comm, cells, listed, first);
  out.size_ = comm.sum(static_cast<std::int64_t>(listed.size()));
  Status status;
  if (const Run* twice = out.first_twice()) {
    const Run& before = *(twice - 1);
    status = {Code::format,
              "the list has cell " + std::to_string(twice->cell) + " (from 0) twice, at positions " +
                  numbers(std::min(before.position + twice->cell - before.cell, twice->position),
                          std::max(before.position + twice->cell - before.cell, twice->position)),
              -1,
              {},
              {}};
  }
  comm.agree_or_throw(status);
  return out;
}

// Questions go out as runs, answers come back as runs of those that were found, in the same order.
std::vector<std::int64_t> CellPositions::find(const Comm& comm, std::span<const std::int64_t> wanted) const {
  const Parts parts{cells_, comm.size()};
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::vector<Run>> asked(ranks);  // position: index in wanted
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < 0 || wanted[i] >= cells_) continue;
    auto& runs = asked[static_cast<std::size_t>(parts.of(wanted[i]))];
    const auto at = static_cast<std::int64_t>(i);
    if (!runs.empty() && runs.back().cell + runs.back().length == wanted[i] &&
        runs.back().position + runs.back().length == at)
      ++runs.back().length;
    else
      runs.push_back({wanted[i], at, 1});
  }
  const auto as_messages = [&](const std::vector<std::vector<Run>>& lists) {
    std::vector<Bytes> messages(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
      if (lists[r].empty()) continue;
      ByteWriter out;
      out.put(lists[r]);
      messages[r] = out.take();
    }
    return comm.exchange(messages);
  };
  std::vector<std::vector<Run>> answers(ranks);  // cell: index in wanted
  const auto questions = as_messages(asked);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (questions[r].empty()) continue;
    std::vector<Run> of_rank;
    ByteReader(questions[r]).get(of_rank);
    for (const Run& question : of_rank) {
      const std::int64_t end = question.cell + question.length;
      auto run = std::partition_point(runs_.begin(), runs_.end(), [&](const Run& known) {
        return known.cell + known.length <= question.cell;
      });
      for (; run != runs_.end() && run->cell < end; ++run) {
        const std::int64_t from = std::max(question.cell, run->cell);
        const std::int64_t to = std::min(end, run->cell + run->length);
        answers[r].push_back(
            {question.position + from - question.cell, run->position + from - run->cell, to - from});
      }
    }
  }
  std::vector<std::int64_t> positions(wanted.size(), k_hole);
  for (const auto& message : as_messages(answers)) {
    if (message.empty()) continue;
    std::vector<Run> found;
    ByteReader(message).get(found);
    for (const Run& run : found)
      for (std::int64_t i = 0; i < run.length; ++i)
        positions[static_cast<std::size_t>(run.cell + i)] = run.position + i;
  }
  return positions;
}

std::vector<std::int64_t> CellPositions::own_part() const {
  std::vector<std::int64_t> cells;
  for (const Run& run : runs_)
    for (std::int64_t i = 0; i < run.length; ++i)
      cells.push_back(run.cell + i);
  return cells;
}

}  // namespace shoal
