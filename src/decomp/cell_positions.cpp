// SPDX-License-Identifier: BSD-3-Clause
#include "decomp/cell_positions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/field_bytes.hpp"
#include "base/language.hpp"
#include "base/numbered.hpp"
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
  return fmt::format("{} and {}", a, b);
}

/// Each rank's list of runs to that rank; what came from each. Lists that are empty are no messages. No rank
/// leaves the others alone: what a rank alone runs out of memory with, all of them fail with.
template <class Run, class Make, class Take>
void rearranged_runs(const Comm& comm, Make&& make, Take&& take) {
  std::vector<Bytes> messages;
  comm.agree_or_throw(caught([&] {
    Numbered<std::vector<Run>> lists(comm.size());
    make(lists);
    messages.resize(lists.size());
    for (std::size_t r = 0; r < lists.size(); ++r) {
      if (lists[r].empty()) continue;
      messages[r] = bytes_of_values(lists[r]);
      std::vector<Run>().swap(lists[r]);
    }
  }));
  const auto came = comm.exchange(messages);
  comm.agree_or_throw(caught([&] {
    for (std::size_t r = 0; r < came.size(); ++r) {
      std::vector<Run> runs;
      if (!came[r].empty()) get_values(came[r], runs);
      take(r, runs);
    }
  }));
}

}  // namespace

/// Adds an entry of a list to its runs.
void CellPositions::append(std::vector<Run>& runs, std::int64_t cell, std::int64_t position) {
  if (!runs.empty() && runs.back().cell + runs.back().length == cell &&
      runs.back().position + runs.back().length == position)
    ++runs.back().length;
  else
    runs.push_back({cell, position, 1});
}

// Sent as runs to the ranks whose parts they are in. Cells outside are left out.
std::vector<CellPositions::Run> CellPositions::dealt(const Comm& comm, std::int64_t cells,
                                                     std::span<const std::int64_t> own, std::int64_t first) {
  const Parts parts{cells, comm.size()};
  std::vector<Run> mine;
  rearranged_runs<Run>(
      comm,
      [&](Numbered<std::vector<Run>>& of_part) {
        for (std::size_t i = 0; i < own.size(); ++i)
          if (own[i] >= 0 && own[i] < cells)
            append(of_part[parts.of(own[i])], own[i], first + static_cast<std::int64_t>(i));
      },
      [&](std::size_t, const std::vector<Run>& runs) { mine.insert(mine.end(), runs.begin(), runs.end()); });
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
              fmt::format("cell {} ({}) is owned twice; water points can be gathered only where each cell "
                          "belongs to one rank, once",
                          as_index(twice->cell), counted_from()),
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
    out.size_ += counts[r];
  }
  // Numbers follow each other in order of cell: runs that are neighbours become one, where they are.
  std::size_t joined = 0;
  std::int64_t next = out.own_first_;
  for (const Run& run : out.runs_) {
    const std::int64_t length = run.length;
    Run* const last = joined == 0 ? nullptr : &out.runs_[joined - 1];
    if (last != nullptr && last->cell + last->length == run.cell)
      last->length += length;
    else
      out.runs_[joined++] = {run.cell, next, length};
    next += length;
  }
  out.runs_.resize(joined);
  out.runs_.shrink_to_fit();
  return out;
}

CellPositions CellPositions::of_list(const Comm& comm, std::int64_t cells, std::int64_t first,
                                     std::span<const std::int64_t> listed) {
  const Status outside = caught([&] {
    for (std::size_t i = 0; i < listed.size(); ++i)
      if (listed[i] < 0 || listed[i] >= cells)
        throw Error(Code::format, "the list has {} at position {} (from 0); cells are 0 to {}", listed[i],
                    first + static_cast<std::int64_t>(i), cells - 1);
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
              fmt::format("the list has cell {} (from 0) twice, at positions {}", twice->cell,
                          numbers(std::min(before.position + twice->cell - before.cell, twice->position),
                                  std::max(before.position + twice->cell - before.cell, twice->position))),
              -1,
              {},
              {}};
  }
  comm.agree_or_throw(status);
  return out;
}

/// Where this rank's part has cells of a question, as runs whose cell is the place in what was asked for.
void CellPositions::answer(const Run& question, std::vector<Run>& answers) const {
  const std::int64_t end = question.cell + question.length;
  auto run = std::partition_point(runs_.begin(), runs_.end(), [&](const Run& known) {
    return known.cell + known.length <= question.cell;
  });
  for (; run != runs_.end() && run->cell < end; ++run) {
    const std::int64_t from = std::max(question.cell, run->cell);
    const std::int64_t to = std::min(end, run->cell + run->length);
    answers.push_back(
        {question.position + from - question.cell, run->position + from - run->cell, to - from});
  }
}

// Questions go out as runs, answers come back as runs of those that were found, in the same order.
std::vector<std::int64_t> CellPositions::find(const Comm& comm, std::span<const std::int64_t> wanted) const {
  const Parts parts{cells_, comm.size()};
  Numbered<std::vector<Run>> answers;
  std::vector<std::int64_t> positions;
  comm.agree_or_throw(caught([&] {
    answers.resize(comm.size());
    positions.assign(wanted.size(), k_hole);
  }));
  rearranged_runs<Run>(
      comm,
      [&](Numbered<std::vector<Run>>& questions) {
        for (std::size_t i = 0; i < wanted.size(); ++i)
          if (wanted[i] >= 0 && wanted[i] < cells_)
            append(questions[parts.of(wanted[i])], wanted[i], static_cast<std::int64_t>(i));
      },
      [&](std::size_t rank, const std::vector<Run>& questions) {
        for (const Run& question : questions)
          answer(question, answers[rank]);
      });
  rearranged_runs<Run>(
      comm, [&](Numbered<std::vector<Run>>& lists) { lists = std::move(answers); },
      [&](std::size_t, const std::vector<Run>& found) {
        for (const Run& run : found)
          for (std::int64_t i = 0; i < run.length; ++i)
            positions[static_cast<std::size_t>(run.cell + i)] = run.position + i;
      });
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
