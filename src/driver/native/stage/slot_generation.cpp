// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/stage/slot_generation.hpp"

#include <algorithm>

namespace shoal {

void SlotGeneration::share_evenly(std::int64_t bytes, int parts) {
  constexpr std::int64_t k_least = 128 * 1024;
  constexpr std::int64_t k_page = 4096;
  const std::int64_t most = Stage::k_most_shares;
  const std::int64_t even = bytes / std::min<std::int64_t>(parts, most) / k_page * k_page + k_page;
  share_bytes = std::max(k_least, even);
}

void SlotGeneration::for_each_extent(std::uint32_t share, const Location* addresses_of_generation,
                                     const std::function<void(const Extent&)>& visit) const {
  const std::int64_t low = share * share_bytes;
  const std::int64_t high = std::min(used, low + share_bytes);
  ExtentMerger merger([&](const Extent& extent) {
    const std::int64_t from = std::max(low, extent.in_memory);
    const std::int64_t to = std::min(high, extent.in_memory + extent.bytes);
    if (from < to)
      visit({extent.in_file.is_placed() ? extent.in_file + (from - extent.in_memory) : k_nowhere, from,
             to - from});
  });
  for (const auto& staged : pieces) {
    if (staged.in_stage >= high || staged.in_stage + staged.bytes() <= low) continue;
    const Location address =
        staged.address_slot < 0 ? staged.address : addresses_of_generation[staged.address_slot];
    if (!address.is_placed()) {
      merger.flush();
      merger.add({k_nowhere, staged.in_stage, staged.bytes()});
      merger.flush();
    } else {
      add_extents(staged.piece, staged.chunk, staged.element_size, address, staged.in_stage, merger);
    }
  }
  merger.flush();
}

Error SlotGeneration::located(const Error& error, std::int64_t in_stage) const {
  const auto staged = std::find_if(pieces.begin(), pieces.end(), [&](const StagedPiece& p) {
    return in_stage >= p.in_stage && in_stage < p.in_stage + p.bytes();
  });
  const auto field =
      std::find_if(fields.rbegin(), fields.rend(), [&](const Field& f) { return f.in_stage <= in_stage; });
  if (staged == pieces.end() || field == fields.rend()) return error;
  Status status = error.status();
  if (field->records)
    status.message = of_records(staged->piece.cells.first[0], staged->piece.cells.count[0], status.message);
  return Error(status).of_variable(field->variable);
}

}  // namespace shoal
