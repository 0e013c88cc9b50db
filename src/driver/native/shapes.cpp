// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/shapes.hpp"

#include <algorithm>
#include <map>

#include "pack/cells.hpp"
#include "pack/pieces.hpp"
#include "rearrange/even_partition.hpp"

namespace shoal {

namespace {

// Four to eight slots: more are slower on every machine measured, as what was stored last is in the caches.
constexpr int k_most_slots = 1 << 16;
constexpr int k_good_slots = 4;

}  // namespace

RunCount runs_in_file(const std::vector<Box>& boxes, const Box& region, const Dims& chunk,
                      std::size_t element_size) {
  const auto spacing = static_cast<std::uint64_t>(volume(chunk)) * element_size + 1;
  const Box chunks = chunks_of(region, chunk);
  RunCount count;
  ExtentMerger merger([&](const Extent& extent) {
    ++count.runs;
    count.bytes += extent.bytes;
  });
  std::int64_t at = 0;
  for_each_piece(within_region(boxes, region), chunk, volume(chunk), [&](const Piece& piece) {
    const auto number = static_cast<std::uint64_t>(position_in(piece.chunk_index, chunks));
    add_extents(piece, chunk, element_size, {0, number * spacing}, at, merger);
    at += piece.cells.cells() * static_cast<std::int64_t>(element_size);
  });
  merger.flush();
  return count;
}

double runs_of_boxes(const Box& region, int io_ranks, const PartRules& rules, const Dims& chunk,
                     std::size_t element_size) {
  const EvenPartition cut(region, io_ranks, rules);
  const auto cells = [&](int i) { return cut.part(i).cells(); };
  std::map<std::int64_t, double> runs;  // of a box with so many cells
  for (const int i : cut.distinct_sizes())
    if (runs.count(cells(i)) == 0)
      runs[cells(i)] = static_cast<double>(runs_in_file({cut.part(i)}, region, chunk, element_size).runs);
  double all = 0;
  for (int i = 0; i < io_ranks; ++i)
    all += runs[cells(i)];
  return all;
}

StageShape stage_shape(const StageOptions& options, StoredBy stored_by, int ranks,
                       std::int64_t largest_chunk) {
  const std::int64_t wanted =
      options.slot_bytes.value_or(std::max(options.default_slot_bytes, largest_chunk));
  const std::int64_t slot = std::clamp((wanted + 4095) / 4096 * 4096, k_least_slot,
                                       std::max(k_least_slot, options.bytes / k_least_slots));
  StageShape shape;
  shape.slot_bytes = std::max(k_least_slot, slot / 4096 * 4096);
  // Where chunks are compressed, each rank has one to work on while others are filled.
  std::int64_t enough = largest_chunk > 0 ? std::max(2 * ranks, k_good_slots)
                                          : std::clamp(ranks, k_good_slots, 2 * k_good_slots);
  // What is stored later must have room until then.
  if (options.whole || stored_by != StoredBy::calls) enough = k_most_slots;
  shape.slots =
      static_cast<int>(std::clamp<std::int64_t>(options.bytes / shape.slot_bytes, k_least_slots, enough));
  shape.writers = std::min(options.writers.value_or(options.default_writers), ranks);
  return shape;
}

void set_for_groups(DriverOptions& options, int groups_of_node) {
  RearrangeOptions& rearranging = options.rearranging;
  rearranging.io_ranks = rearranging.io_stride = rearranging.io_base = rearranging.io_ranks_per_node = 0;
  rearranging.rearrange = Rearrange::off;
  options.stage.writers = 1;
  options.stage.bytes = std::max(k_least_slots * k_least_slot, options.stage.bytes / groups_of_node);
}

void require_writers(int writers, int most, bool serve) {
  if (writers <= most) return;
  const std::string n = std::to_string(most);
  throw Error(
      Code::setting,
      "setting writers is {}, but no node has more than {}{}{}; writers can be 1 to {}, or 0 (chosen)",
      writers, n, most == 1 ? " rank" : " ranks", serve ? " that serve" : "", n);
}

bool are_long_runs(const NodeShare& share, const Dims& global, const Dims& chunk, std::size_t element_size,
                   std::int64_t long_run) {
  if (share.shortest_run * static_cast<std::int64_t>(element_size) < long_run) return false;
  for (int d = 0; d < global.size(); ++d)
    if (chunk[chunk.size() - global.size() + d] < global[d]) return false;
  return true;
}

}  // namespace shoal
