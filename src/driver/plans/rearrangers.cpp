// SPDX-License-Identifier: BSD-3-Clause
#include "driver/plans/rearrangers.hpp"

#include <utility>

#include "driver/plans/rearrange_bytes.hpp"
#include "rearrange/tile_maps.hpp"

namespace shoal {

NodeMessages* CountedMessages::of(const Comm& comm, const Nodes& nodes, const std::vector<int>& io_ranks,
                                  const StageOptions& stage) {
  if (nodes.single()) return nullptr;
  if (!messages_) messages_.emplace(comm, nodes, io_ranks, window_bytes(stage));
  return &*messages_;
}

void CountedMessages::count(Counters& counters) {
  if (!messages_) return;
  counters.messages += messages_->messages() - counted_;
  counters.message_bytes += messages_->message_bytes() - counted_bytes_;
  counted_ = messages_->messages();
  counted_bytes_ = messages_->message_bytes();
}

Rearrangers::Rearrangers(const Comm& comm, const Nodes& nodes, std::vector<int> io_ranks,
                         const StageOptions& stage)
    : comm_(comm),
      rearrange_bytes_(rearrange_bytes(stage)),
      io_ranks_(std::move(io_ranks)),
      node_messages_(messages_.of(comm, nodes, io_ranks_, stage)) {}

std::shared_ptr<const Decomposition> Rearrangers::map_of(
    const std::shared_ptr<const Decomposition>& decomposition, bool halo) {
  if (decomposition->map() != nullptr) return decomposition;
  auto* maps = tile_maps_.find(decomposition.get());
  if (maps == nullptr) maps = &tile_maps_.add(decomposition, {});
  auto& map = (*maps)[halo ? 1 : 0];
  if (map == nullptr) map = map_of_tiles(comm_, *decomposition, halo);
  return map;
}

std::shared_ptr<const Decomposition> Rearrangers::known_map(
    const std::shared_ptr<const Decomposition>& decomposition, bool halo) const {
  if (decomposition->map() != nullptr) return decomposition;
  const auto* maps = tile_maps_.find(decomposition.get());
  return maps == nullptr ? nullptr : (*maps)[halo ? 1 : 0];
}

Rearranger& Rearrangers::of(const std::shared_ptr<const Decomposition>& map) {
  if (Rearranger* const known = find(map.get())) return *known;
  return *rearrangers_.add(
      map, std::make_unique<Rearranger>(comm_, map, io_ranks_, rearrange_bytes_, node_messages_));
}

Rearranger* Rearrangers::find(const Decomposition* map) const {
  const auto* known = rearrangers_.find(map);
  return known == nullptr ? nullptr : known->get();
}

}  // namespace shoal
