// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/box.hpp"
#include "base/bytes.hpp"
#include "comm/comm.hpp"
#include "decomp/cell_mask.hpp"
#include "decomp/index_map.hpp"
#include "decomp/ownership.hpp"

namespace shoal {

constexpr int k_most_dims = k_max_dims - 1;  ///< of what is cut: a record dimension may come in front

/// Which global cells each rank owns. A block: one tile (box) a rank; state is O(1) a rank, and rank 0 also
/// keeps the boxes that nobody owns. A map: a list of cells a rank. Immutable once made.
class Decomposition {
 public:
  /// global: 1 to k_most_dims dimensions, the same on all ranks. tile: this rank's, any count may be 0.
  /// halo_low, halo_high: cells around it in this rank's arrays. Error on all ranks alike: a box outside of
  /// the global shape, negative halos, overlapping tiles (Code::overlap, naming two ranks and the box).
  /// Collective.
  static std::shared_ptr<const Decomposition> block(const Comm& comm, const Dims& global, const Box& tile,
                                                    const Dims& halo_low, const Dims& halo_high);
  /// global: all dimensions, the last `uncut_dims` of which (0 or more, fewer than all) are not cut. cells:
  /// the global cell of each local cell, in the dimensions before those, row-major, from 0, or k_hole; any
  /// order, any length. Arrays of such a field have the extents [dimensions before global's, cells.size(),
  /// the `uncut_dims` last of global]. A cell that comes twice is no error here: see repeated(). Error on all
  /// ranks alike: a cell outside, global or uncut_dims not the same on all ranks. problem: a failure of this
  /// rank's arguments found before (it then takes part with it). Collective.
  static std::shared_ptr<const Decomposition> map(const Comm& comm, const Dims& global, int uncut_dims,
                                                  std::span<const std::int64_t> cells,
                                                  const Status& problem = {});
  /// base with a mask in place of the one it may have: cells are owned as before, but values of land cells
  /// are not looked at when fields are written, and the file gets the fill value; reading leaves them as they
  /// are. mask.shape(): of a block,
  /// the last dimensions of this rank's tile (as many on all ranks), on a rank without cells anything; of a
  /// map, its local cells. Error on all ranks alike: masks of different dimensions, another communicator than
  /// base's. Collective.
  static std::shared_ptr<const Decomposition> masked(const Comm& comm, const Decomposition* base,
                                                     CellMask mask);

  /// The same map with each cell once (unique_cells); base itself if it is that already. Error on all ranks
  /// alike: another communicator than base's; a map with a mask in which a cell comes twice. Collective.
  static std::shared_ptr<const Decomposition> unique(const Comm& comm,
                                                     std::shared_ptr<const Decomposition> base);

  /// Of a map: the same with the dimensions before the `uncut_dims` last as one. Local.
  std::shared_ptr<const Decomposition> flattened() const;

  /// The same for a communicator whose first ranks are this one's, and whose others have no cells: on one of
  /// the first, and on another, from what one of the first packed. Local.
  std::shared_ptr<const Decomposition> with_more_ranks(int ranks) const;
  static std::shared_ptr<const Decomposition> without_cells(ByteReader& in, int ranks, int rank);
  void pack_for_more_ranks(ByteWriter& out) const;

  const Dims& global() const { return global_; }
  int rank() const { return global_.size(); }  ///< number of dimensions
  /// This rank's box. Of a map: the whole global box if the rank has any cell.
  const Box& tile() const { return tile_; }
  const Dims& halo_low() const { return halo_low_; }
  const Dims& halo_high() const { return halo_high_; }
  bool has_halo() const;
  /// The tile and its halo, in global indices; may stick out of the global shape.
  Box tile_with_halo() const;
  /// Extents of this rank's arrays in the dimensions of the decomposition: the tile with its halo; of a map,
  /// the length of the list and the dimensions that are not cut.
  Dims local_shape() const;
  /// Cells that some rank owns, each counted once.
  std::int64_t owned_cells() const { return owned_cells_; }
  /// Are there cells that no rank owns? The same on all ranks.
  bool has_unowned() const { return owned_cells_ < volume(global_); }
  /// Are there cells that no field has a value for, as nobody owns them or they are land? The same on all
  /// ranks.
  bool leaves_cells() const { return has_masked_ || has_unowned(); }
  /// Is this dimension cut: does some rank own less than all of it? Of a map: all but the `uncut_dims` last.
  bool is_cut(int d) const { return cut_[d] != 0; }
  /// Disjoint boxes of cells that nobody owns. Only on rank 0; empty elsewhere, and of a map.
  const std::vector<Box>& unowned() const { return unowned_; }

  /// nullptr: a block. Its indices count cells of the dimensions that are cut (mapped_shape).
  const IndexMap* map() const { return map_.get(); }
  /// The last dimensions that a map does not cut.
  int uncut_dims() const { return uncut_dims_; }
  Dims whole_shape() const { return tail(global_, uncut_dims_); }
  /// The dimensions before those.
  Dims mapped_shape() const;
  /// A cell of a map that comes twice, on any ranks: the lowest, the same on all ranks.
  const std::optional<RepeatedCell>& repeated() const { return repeated_; }
  /// Error(overlap) that names it if there is one, the same on all ranks: then fields can be read but not
  /// written.
  Status writable() const;
  /// Of the cells of a map that nobody owns, those in this rank's even part of the mapped cells. They have no
  /// local cells.
  const IndexMap& unowned_share() const { return *unowned_share_; }
  /// Of memory that a map takes on this rank: its list, and that of cells that nobody owns.
  std::int64_t map_bytes() const {
    return map_->bytes() + (unowned_share_->empty() ? 0 : unowned_share_->bytes());
  }

  /// Made with a mask? The same on all ranks.
  bool is_masked() const { return masked_dims_ > 0; }
  /// So many of the last dimensions that are not `uncut_dims` have the mask.
  int masked_dims() const { return masked_dims_; }
  /// Cells of the mask that are water, on all ranks together.
  std::int64_t active_cells() const { return active_cells_; }
  /// This rank's; nullptr: none, or no cell is land.
  const CellMask* mask() const { return mask_.get(); }
  /// The same of all cells of this rank's arrays: of a block, in the last dimensions of the tile with its
  /// halo, where cells are land that no rank has as water.
  const CellMask* mask_with_halo() const { return around_.get(); }
  /// The same as a mask in any case, to make another decomposition with.
  CellMask own_mask() const { return mask_ ? *mask_ : CellMask(tail(tile_.count, masked_dims_)); }
  /// The communicator's size and this rank in it, to check against a dataset's.
  int comm_size() const { return comm_size_; }
  int comm_rank() const { return comm_rank_; }

 private:
  Decomposition() = default;
  Dims global_;
  Box tile_;
  Dims halo_low_;
  Dims halo_high_;
  Dims cut_;
  std::int64_t owned_cells_ = 0;
  std::vector<Box> unowned_;
  std::shared_ptr<const IndexMap> map_;  // as the other, shared with those that only have another mask
  int uncut_dims_ = 0;
  std::optional<RepeatedCell> repeated_;
  std::shared_ptr<const IndexMap> unowned_share_;
  std::shared_ptr<const CellMask> mask_;
  std::shared_ptr<const CellMask> around_;
  bool has_masked_ = false;  // on any rank
  int masked_dims_ = 0;
  std::int64_t active_cells_ = 0;
  int comm_size_ = 1;
  int comm_rank_ = 0;
};

// What rank 0 does for a block by itself.

/// A tile as numbers: first cells, then counts.
std::vector<std::int64_t> numbers_of_tile(const Box& tile);
/// From those of all ranks: disjoint boxes that nobody owns. Error(overlap) names two ranks and what both
/// own.
std::vector<Box> unowned_by_tiles(const Dims& global, std::vector<std::int64_t> numbers);

}  // namespace shoal
