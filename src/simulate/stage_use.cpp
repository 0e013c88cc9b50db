// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/stage_use.hpp"

#include <algorithm>

namespace shoal {

namespace {

Dims chunk_of(const SimulatedField& field) {
  return field.chunk.empty() ? field.global : field.chunk;
}

}  // namespace

Location address_of(const SimulatedField& field, const Dims& chunk_index, const Box& region,
                    const Dims& chunk) {
  const Box chunks = chunks_of(region, chunk);
  return {0, static_cast<std::uint64_t>(position_in(chunk_index, chunks) * volume(chunk)) * field.size};
}

NodeShare share_of_tiles(const SimulatedField& field, int node, std::vector<Box> unowned) {
  std::vector<Box> tiles;
  for (int r = field.first_of_node(node); r < field.first_of_node(node + 1); ++r)
    if (const Box tile = field.tile(r); !tile.empty()) tiles.push_back(tile);
  return share_of_tiles(field.global, tiles, tiles, std::move(unowned));
}

// Those that have nothing else to do all store, unless options say otherwise.
StageShape stage_of(const SimulationRequest& request, int node) {
  const SimulatedField& field = request.field;
  const int servers = request.options.servers.count / field.nodes;
  const int ranks = field.first_of_node(node + 1) - field.first_of_node(node) + servers;
  StageShape stage =
      stage_shape(request.options_of_node(node).stage, request.options.background.stored_by, ranks);
  if (servers > 0 && !request.options.stage.writers) stage.writers = servers;
  return stage;
}

void for_each_generation(const SimulatedField& field, const NodeShare& share, const StageShape& stage,
                         const std::function<void(const SlotGeneration&)>& visit) {
  const Box region = Box::whole(field.global);
  const Dims chunk = chunk_of(field);
  SlotGeneration generation;
  const auto next = [&] {
    if (!generation.pieces.empty()) visit(generation);
    generation = SlotGeneration();
    generation.share_evenly(stage.slot_bytes, stage.writers);
  };
  next();
  const auto size = static_cast<std::int64_t>(field.size);
  for_each_piece(share.store, chunk, stage.slot_bytes / size, [&](const Piece& piece) {
    StagedPiece staged{piece, 0, address_of(field, piece.chunk_index, region, chunk), -1, chunk, field.size,
                       -1,    {}};
    if (!generation.has_space(staged.bytes(), stage.slot_bytes)) next();
    if (generation.pieces.empty()) generation.align();
    staged.in_stage = generation.used;
    generation.used += staged.bytes();
    if (!field.chunk.empty()) ++generation.addresses;
    generation.pieces.push_back(staged);
  });
  next();
}

void for_each_write(const SlotGeneration& generation, const std::function<void(const Extent&)>& visit) {
  for (std::uint32_t s = 0; s < generation.shares(); ++s)
    generation.for_each_extent(s, nullptr, visit);
}

// What is stored later has to be in the stage.
bool stores_past_stage(const SimulationRequest& request, const NodeShare& share) {
  const SimulatedField& field = request.field;
  const DriverOptions& options = request.options;
  return !options.stage.writers && options.background.stored_by == StoredBy::calls && field.chunk.empty() &&
         are_long_runs(share, field.global, chunk_of(field), field.size,
                       options.stage.direct_bytes.value_or(k_long_run));
}

}  // namespace shoal
