// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "format/schema.hpp"
#include "pack/scratch_buffer.hpp"
#include "pack/transfer.hpp"

namespace shoal {

// Fields that are cut into tiles, as fields cut by maps, so that they can be rearranged.

/// The dimensions of a block that its map counts: from the first that is cut to the last.
struct CutDims {
  int first = 0, last = 0;
};
/// Where nothing is cut, the first dimension alone. cut: of each dimension, is it cut?
CutDims cut_dims_of(const Dims& cut);
/// The cells of a box as that map counts them.
std::vector<std::int64_t> map_cells_of(const Box& box, const Dims& global, const CutDims& dims);

/// A map of the cells of each rank's tile, or of those around it too. Collective.
std::shared_ptr<const Decomposition> map_of_tiles(const Comm& comm, const Decomposition& block, bool halo);

/// Can the map stand for this region? A dimension between two that are cut must be there as a whole. The same
/// on all ranks.
Status check_section(const Transfer& transfer);

/// Has one rank all cells? Then nothing is gained by sending a section of them, and no map is needed for it.
bool one_rank_has_all(const Comm& comm, const Decomposition& block);

/// This rank's cells of the region, as such a map has them.
Box tile_box(const Transfer& transfer, bool halo);

/// The transfer as one of the map, of this rank's box, whose cells lie row-major as the type.
Transfer as_map(const Transfer& transfer, const std::shared_ptr<const Decomposition>& map, const Box& box,
                std::byte* cells, Type type);

/// This rank's cells, packed into room as the variable's type: `packed` is the transfer with them. Where they
/// cannot be, it has the Status that is returned, and takes part with nothing.
Status pack_tile(const Transfer& transfer, const VariableDef& definition,
                 const std::shared_ptr<const Decomposition>& map, ScratchBuffer& buffer, Seconds& time,
                 Transfer& packed);

/// Cells that came to the box, row-major as the variable's type, to the array.
Status unpack_tile(const Transfer& transfer, const VariableDef& definition, const Box& box,
                   const std::byte* cells);

}  // namespace shoal
