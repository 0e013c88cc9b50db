// SPDX-License-Identifier: BSD-3-Clause
#include "decomp/node_runs.hpp"

#include <algorithm>

#include "base/field_bytes.hpp"
#include "decomp/partition.hpp"

namespace shoal {

namespace {

// What a rank sends at a time, at most about so much.
constexpr std::int64_t k_pass_bytes = 8 * 1024 * 1024;

using Run = CellRun;

void add(std::vector<Run>& runs, const Run& run) {
  if (!runs.empty() && run.first <= runs.back().end)
    runs.back().end = std::max(runs.back().end, run.end);
  else
    runs.push_back(run);
}

std::vector<Run> joined(std::vector<Run> runs) {
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.first < b.first; });
  std::vector<Run> out;
  for (const auto& run : runs)
    add(out, run);
  return out;
}

void unpack(const std::vector<Bytes>& parts, std::vector<Run>& runs) {
  std::vector<Run> some;
  for (const auto& part : parts) {
    get_values(part, some);
    runs.insert(runs.end(), some.begin(), some.end());
  }
}

// A run of positions as boxes: the rest of a row, whole rows, the beginning of one; in each dimension.
void add_boxes(Run run, const Dims& shape, const Dims& whole, std::vector<Box>& boxes) {
  const int last = shape.size() - 1;
  while (run.first < run.end) {
    int d = last;
    std::int64_t inner = 1;
    for (; d > 0 && run.first % (inner * shape[d]) == 0 && run.end - run.first >= inner * shape[d]; --d)
      inner *= shape[d];
    Box box(unravel(run.first, shape), Dims(shape.size(), 1));
    box.count[d] = std::min((run.end - run.first) / inner, shape[d] - box.first[d]);
    for (int i = d + 1; i <= last; ++i)
      box.count[i] = shape[i];
    run.first += box.count[d] * inner;
    boxes.emplace_back(joined(box.first, Dims(whole.size())), joined(box.count, whole));
  }
}

}  // namespace

NodeRuns runs_together(std::vector<CellRun> runs, const Dims& mapped_shape, const Dims& whole_shape) {
  NodeRuns out;
  for (const auto& run : joined(std::move(runs))) {
    ++out.runs;
    out.cells += run.end - run.first;
    add_boxes(run, mapped_shape, whole_shape, out.boxes);
  }
  out.boxes = merged(std::move(out.boxes));
  return out;
}

// Each rank joins what lies in its part of the index space, in passes of bounded memory.
NodeRuns runs_of_node(const Comm& node, const Decomposition& map, bool unowned, std::int64_t most_runs) {
  const Dims shape = map.mapped_shape();
  const std::int64_t all = volume(shape);
  const auto ranks = static_cast<std::int64_t>(node.size());
  const std::int64_t entries = map.map()->runs() + (unowned ? map.unowned_share().runs() : 0);
  const std::int64_t passes = 1 + node.max(entries) * static_cast<std::int64_t>(sizeof(Run)) / k_pass_bytes;
  NodeRuns out;
  std::vector<Run> kept;
  std::int64_t runs = 0;
  std::int64_t cells = 0;
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    const auto boundary = [&](std::int64_t rank) {
      const std::int64_t parts = passes * ranks;
      const std::int64_t part = pass * ranks + rank;
      return all / parts * part + std::min(part, all % parts);
    };
    std::vector<Bytes> parts;
    for (std::int64_t r = 0; r < ranks; ++r) {
      std::vector<Run> mine;
      const auto take = [&](const IndexMap::Run& run) { add(mine, {run.global, run.global + run.length}); };
      map.map()->for_each_run(boundary(r), boundary(r + 1), take);
      if (unowned) {
        std::vector<Run> owned;
        std::swap(owned, mine);
        map.unowned_share().for_each_run(boundary(r), boundary(r + 1), take);
        mine.insert(mine.end(), owned.begin(), owned.end());
      }
      parts.push_back(bytes_of_values(mine));
    }
    std::vector<Run> here;
    unpack(node.exchange(parts), here);
    here = joined(std::move(here));
    runs += static_cast<std::int64_t>(here.size());
    for (const auto& run : here)
      cells += run.end - run.first;
    if (runs <= most_runs) kept.insert(kept.end(), here.begin(), here.end());
  }
  out.runs = node.sum(runs);
  out.cells = node.sum(cells);
  if (out.runs > most_runs) return out;
  std::vector<Run> of_node;
  unpack(node.all_gather(bytes_of_values(kept)), of_node);
  return runs_together(std::move(of_node), shape, map.whole_shape());
}

}  // namespace shoal
