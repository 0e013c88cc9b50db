// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "decomp/node_share.hpp"
#include "driver/native/shapes.hpp"
#include "driver/native/stage/slot_generation.hpp"
#include "simulate/simulation_request.hpp"

namespace shoal {

/// Where a chunk of the region begins, if chunks lie one after another from the file's first byte on.
Location address_of(const SimulatedField& field, const Dims& chunk_index, const Box& region,
                    const Dims& chunk);

/// The tiles of a node's ranks. unowned: what it stores of the cells that nobody owns.
NodeShare share_of_tiles(const SimulatedField& field, int node, std::vector<Box> unowned);

/// The stage of a node, with who serves on it.
StageShape stage_of(const SimulationRequest& request, int node);

/// What a node's ranks put into their stage, slot by slot, as FieldWriter fills them.
void for_each_generation(const SimulatedField& field, const NodeShare& share, const StageShape& stage,
                         const std::function<void(const SlotGeneration&)>& visit);
/// The writes that store it.
void for_each_write(const SlotGeneration& generation, const std::function<void(const Extent&)>& visit);

/// Do ranks of the node store their tiles themselves, past the stage?
bool stores_past_stage(const SimulationRequest& request, const NodeShare& share);

}  // namespace shoal
