// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "driver/driver.hpp"
#include "rearrange/box_shares.hpp"
#include "rearrange/even_partition.hpp"
#include "rearrange/tile_maps.hpp"

namespace shoal {

/// A field cut over ranks that need not exist.
struct SimulatedField {
  Dims global;           ///< of one record, slowest first
  std::size_t size = 4;  ///< bytes of a cell
  Dims chunk;            ///< of the variable in one record; empty: it lies in one piece
  int ranks = 1, nodes = 1;
  /// The first rank of each node, and the number of ranks, where nodes are not even; else empty.
  std::vector<int> firsts;
  /// Either: the tile of a rank.
  std::function<Box(int rank)> tile;
  /// Or: its cells, which count the dimensions between the first `outer_dims` and the last `uncut_dims`.
  std::function<std::vector<std::int64_t>(int rank)> cells;
  int outer_dims = 0, uncut_dims = 0;
  /// Ranks that a sample must have: those in the corners.
  std::vector<int> corners;

  bool is_map() const { return static_cast<bool>(cells); }
  /// Ranks of a node follow each other; nodes differ by one rank at most, unless firsts says otherwise.
  int first_of_node(int node) const {
    if (!firsts.empty()) return firsts[static_cast<std::size_t>(node)];
    return static_cast<int>(static_cast<std::int64_t>(node) * ranks / nodes);
  }
  std::vector<int> first_of_nodes() const;  ///< of all nodes, and the number of ranks
};

/// The field as one of a map: as it is, or with tiles as maps of their cells.
class MappedField {
 public:
  explicit MappedField(const SimulatedField& field);
  const MapShape& shape() const { return shape_; }
  std::vector<std::int64_t> cells_of(int rank) const;
  /// May the rank have cells of the box of the whole field, or mapped ones from first to end - 1? Of maps
  /// always.
  bool may_have(int rank, const Box& box) const;
  bool may_have(int rank, std::int64_t first, std::int64_t end) const;

 private:
  const SimulatedField& field_;
  CutDims cut_;
  MapShape shape_;
};

/// What I/O ranks cut into boxes: the field as one that lies at the start of a file, without records.
struct SimulatedBoxes {
  Box region;
  Dims chunk, alignment;
  MapShape shape;
  std::int64_t least_cells = 0;  ///< of a box

  PartRules rules() const { return {alignment, least_cells}; }
};
/// flattened: as driver native sees it.
SimulatedBoxes simulated_boxes(const SimulatedField& field, const MapShape& shape,
                               const DriverOptions& options, bool flattened);

/// The ranks that store for others, as the options say or as they are chosen.
std::vector<int> simulated_io_ranks(const SimulatedField& field, const DriverOptions& options);

}  // namespace shoal
