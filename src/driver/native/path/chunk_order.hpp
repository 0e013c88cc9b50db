// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "driver/native/field_job.hpp"

namespace shoal {

/// The region of a field in order of chunks: [outer, chunks, cells of a chunk, inner], so that whole chunks
/// can be moved as boxes, whatever the decomposition. Outer dimensions are the leading ones in which chunks
/// have one cell, inner ones the last ones that chunks have whole; all dimensions between, which ranks or
/// chunks cut, become the two in the middle. Cells of chunks beyond the region are unowned. All is Local.
class ChunkOrder {
 public:
  explicit ChunkOrder(const FieldJob& job);

  std::int64_t outer_dims() const { return outer_cells_; }
  std::int64_t chunks() const { return chunks_.cells(); }
  std::int64_t cells() const { return volume(chunk_); }  ///< of a chunk, without the inner dimensions
  std::int64_t inner_cells() const { return inner_cells_; }
  /// All four; the last only where the inner dimensions have more than one cell.
  Dims shape() const;
  /// What a map of this order needs: shape() without the outer dimensions.
  Dims global() const;
  int uncut_dims() const { return inner_cells_ > 1 ? 1 : 0; }
  /// The same for regions whose ranks have their cells at the same places of such a map.
  std::vector<std::int64_t> key() const;

  /// Where the cells of a box of this rank's lie (row-major in the dimensions of the middle), as the map
  /// counts them.
  std::vector<std::int64_t> places_of(const Box& box) const;
  /// The same for the local cells of a map, as its arrays have them; land is left out.
  std::vector<std::int64_t> places_of(const Decomposition& map) const;
  /// How many of them there are, for each index of the outer dimensions, of as many cells of a row-major
  /// array.
  Dims array_shape(std::int64_t places) const;

  /// The index of a chunk in the variable's grid.
  Dims index_of(std::int64_t lead, std::int64_t chunk) const;

 private:
  std::int64_t place_of(const Dims& middle) const;
  Box region_;
  Dims whole_chunk_;
  int front_ = 0, end_ = 0;  // the dimensions in the middle: front_ .. end_ - 1
  Dims chunk_;               // in these
  Box chunks_;               // that the region touches, in these
  std::int64_t outer_cells_ = 1, inner_cells_ = 1;
};

}  // namespace shoal
