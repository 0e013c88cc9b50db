// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/shapes.hpp"

#include <algorithm>

namespace shoal {

namespace {

// Slots that stay in a core's cache, and few of them: larger ones are slower on every machine measured.
constexpr std::int64_t k_default_slot = 1024 * 1024;
constexpr int k_most_slots = 1 << 16;
constexpr int k_good_slots = 4;
// Shorter runs gain from being joined with those of other ranks.
constexpr std::int64_t k_long_run = 128 * 1024;

}  // namespace

StageShape stage_shape(const DriverOptions& options, int ranks) {
  const std::int64_t wanted = options.slot_bytes > 0 ? options.slot_bytes : k_default_slot;
  const std::int64_t slot = std::clamp((wanted + 4095) / 4096 * 4096, k_least_slot,
                                       std::max(k_least_slot, options.stage_bytes / k_least_slots));
  StageShape shape;
  shape.slot_bytes = std::max(k_least_slot, slot / 4096 * 4096);
  const std::int64_t enough =
      options.whole_stage ? k_most_slots : std::clamp(ranks, k_good_slots, 2 * k_good_slots);
  shape.slots = static_cast<int>(
      std::clamp<std::int64_t>(options.stage_bytes / shape.slot_bytes, k_least_slots, enough));
  shape.writers = options.writers > 0 ? std::min(options.writers, ranks) : 1;
  return shape;
}

bool are_long_runs(const NodeShare& share, const Dims& global, const Dims& chunk, std::size_t element_size,
                   std::int64_t long_run) {
  if (share.shortest_run * static_cast<std::int64_t>(element_size) < (long_run > 0 ? long_run : k_long_run))
    return false;
  for (int d = 0; d < global.size(); ++d)
    if (chunk[chunk.size() - global.size() + d] < global[d]) return false;
  return true;
}

}  // namespace shoal
