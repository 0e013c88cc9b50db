// SPDX-License-Identifier: BSD-3-Clause
// What saving a checkpoint and taking it back share.
#pragma once

#include <string>
#include <vector>

#include "streams/checkpoint.hpp"

namespace shoal::streams {

inline constexpr std::int32_t k_version = 2;

/// Of the attribute with the start of the window of steps that goes on.
std::string window_name(const Clock& clock);
/// "mean, maximum".
std::string names_of(const std::vector<Operation>& operations);

/// Calls use(variable, view) for each array of a state, all of 8 bytes a cell; name: of the state's variable.
template <class Use>
void Checkpoint::for_each_array(const Entry& entry, const std::string& name, Use&& use) const {
  const Collector& collector = collector_of(entry);
  const Accumulator& accumulator = *collector.accumulator;
  WindowState& state = state_of(entry);
  const Dims& shape = collector.part->local_shape();
  for (int m = 0; m < k_moments; ++m)
    if (const auto moment = static_cast<Moment>(m); accumulator.moments().has(moment))
      use(name + "." + name_of(moment), ArrayView::contiguous(state.of(moment).data(), Type::double_, shape));
  for (int m = 0; m < k_moments; ++m)
    if (const auto moment = static_cast<Moment>(m); accumulator.whole_moments().has(moment))
      use(name + "." + name_of(moment),
          ArrayView::contiguous(state.whole_of(moment).data(), accumulator.type(), shape));
  if (accumulator.counts_cells())
    use(name + ".cell_weights", ArrayView::contiguous(state.cell_weights.data(), Type::int64, shape));
  if (accumulator.counts_values())
    use(name + ".cell_counts", ArrayView::contiguous(state.cell_counts.data(), Type::int64, shape));
}

}  // namespace shoal::streams
