// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/field.hpp"

#include "base/hash.hpp"

namespace shoal {

std::uint64_t note_of(const FieldJob& job, std::uint64_t note_before) {
  Hash note;
  note.add(note_before);
  note.add(static_cast<std::uint64_t>(job.transfer->variable));
  note.add(job.share->number);
  note.add(job.transfer->region);
  return note.value();
}

Bytes stored_fill(const VariableDef& variable, const Placement& placement) {
  Bytes fill = fill_of(variable);
  if (placement.swapped) swap_bytes(fill.data(), fill.size(), 1);
  return fill;
}

Encoder::Encoder(const FieldJob& job)
    : coder(job.variable->filters, size_of(job.variable->type)),
      variable(job.variable->name),
      fill(stored_fill(*job.variable, *job.placement)),
      chunk(static_cast<std::size_t>(volume(job.placement->chunk)) * fill.size()),
      element(fill.size()),
      copy(find_conversion(job.stored(), job.stored())) {}

void Filling::share_evenly(std::int64_t bytes, int parts) {
  constexpr std::int64_t k_least = 128 * 1024;
  constexpr std::int64_t k_page = 4096;
  const std::int64_t most = Stage::k_most_shares;
  const std::int64_t even = bytes / std::min<std::int64_t>(parts, most) / k_page * k_page + k_page;
  share_bytes = std::max(k_least, even);
}

void Filling::for_each_extent(std::uint32_t share, const std::uint64_t* addresses_of_filling,
                              const std::function<void(const Extent&)>& visit) const {
  const std::int64_t low = share * share_bytes;
  const std::int64_t high = std::min(used, low + share_bytes);
  ExtentMerger merger([&](const Extent& extent) {
    const std::int64_t from = std::max(low, extent.in_stage);
    const std::int64_t to = std::min(high, extent.in_stage + extent.bytes);
    if (from < to)
      visit({extent.in_file == k_unplaced
                 ? k_unplaced
                 : extent.in_file + static_cast<std::uint64_t>(from - extent.in_stage),
             from, to - from});
  });
  for (const auto& staged : pieces) {
    if (staged.in_stage >= high || staged.in_stage + staged.bytes() <= low) continue;
    const std::uint64_t address =
        staged.address_slot < 0 ? staged.address : addresses_of_filling[staged.address_slot];
    if (address == k_unplaced) {
      merger.flush();
      merger.add({k_unplaced, staged.in_stage, staged.bytes()});
      merger.flush();
    } else {
      add_extents(staged.piece, staged.chunk, staged.element_size, address, staged.in_stage, merger);
    }
  }
  merger.flush();
}

}  // namespace shoal
