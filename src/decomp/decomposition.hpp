// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "base/box.hpp"
#include "comm/comm.hpp"

namespace shoal {

/// Which global cells each rank owns: one tile (box) a rank. State is O(1) a rank; rank 0 also keeps the
/// boxes that nobody owns. Immutable once made.
class Decomposition {
 public:
  /// global: 1 to 7 dimensions, the same on all ranks. tile: this rank's, any count may be 0. halo_low,
  /// halo_high: cells around it in this rank's arrays. Error on all ranks alike: a box outside of the global
  /// shape, negative halos, overlapping tiles (Code::overlap, naming two ranks and the box). problem: a
  /// failure of this rank's arguments found before (it then takes part with it). Collective.
  static std::shared_ptr<const Decomposition> block(const Comm& comm, const Dims& global, const Box& tile,
                                                    const Dims& halo_low, const Dims& halo_high,
                                                    const Status& problem = {});

  const Dims& global() const { return global_; }
  int rank() const { return global_.size(); }  ///< number of dimensions
  const Box& tile() const { return tile_; }
  const Dims& halo_low() const { return halo_low_; }
  const Dims& halo_high() const { return halo_high_; }
  bool has_halo() const;
  /// The tile and its halo, in global indices; may stick out of the global shape.
  Box tile_with_halo() const;
  /// Cells that some rank owns.
  std::int64_t owned_cells() const { return owned_cells_; }
  /// Is this dimension cut: does some rank own less than all of it?
  bool is_cut(int d) const { return cut_[d] != 0; }
  /// Disjoint boxes of cells that nobody owns. Only on rank 0; empty elsewhere.
  const std::vector<Box>& unowned() const { return unowned_; }
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
  int comm_size_ = 1;
  int comm_rank_ = 0;
};

}  // namespace shoal
