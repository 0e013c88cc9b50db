// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.hpp"
#include "comm/comm.hpp"
#include "decomp/decomposition.hpp"

namespace shoal::streams {

/// Values of cells, and what each counts for; 0: it has no value.
struct WeightedValues {
  std::vector<double> values, weights;
};

/// Joins blocks of cells of a grid, factor[d] of them along dimension d, to one coarse cell each; the last
/// along a dimension has what is left. A coarse cell belongs to the rank that has the first of its cells
/// (row-major) of those that any rank has; others send theirs there. Its cells are added in one order,
/// row-major, so that bits do not depend on how the grid is cut. Immutable.
class Coarsening {
 public:
  enum class Kind {
    mean,
    longitude,  ///< mean of degrees, where 359 and 1 are neighbours
    sum,        ///< of the values, not weighted
  };
  /// fine: lengths of the grid. cells: where each of this rank's cells lies in it, row-major; k_hole:
  /// nowhere. Collective.
  Coarsening(const Comm& comm, const Dims& fine, const Dims& factor, const std::vector<std::int64_t>& cells);

  const Dims& shape() const { return shape_; }
  /// This rank's coarse cells, row-major in the grid, ascending.
  const std::vector<std::int64_t>& cells() const { return cells_; }
  /// A block, where all ranks have one; otherwise a map.
  const std::shared_ptr<const Decomposition>& decomposition() const { return decomposition_; }
  /// Of this rank's arrays, in the dimensions of the decomposition.
  Dims local_shape() const;

  /// fine: [fields][cells of this rank], returns [fields][cells()]; cells without a value have NaN and the
  /// weight 0, others the sum of weights. Collective.
  WeightedValues join(const Comm& comm, const WeightedValues& fine, std::int64_t fields, Kind kind) const;

 private:
  struct Known {  // a cell of this rank, or one that another has
    std::int64_t coarse, fine, term;
  };
  /// Finds the owner of each coarse cell of `mine`, which is sorted. Collective.
  static std::vector<int> owners(const Comm& comm, const std::vector<Known>& mine, std::int64_t coarse_cells);
  void make_decomposition(const Comm& comm);
  std::vector<double> received(const Comm& comm, const WeightedValues& fine, std::int64_t fields) const;

  Dims shape_;
  std::int64_t fine_cells_ = 0;  // of this rank
  std::vector<std::int64_t> cells_;
  std::shared_ptr<const Decomposition> decomposition_;
  // Coarse cell i joins terms_[first_[i]] to terms_[first_[i + 1] - 1]: cells of this rank, or behind those
  // what is received.
  std::vector<std::int64_t> first_, terms_;
  struct Peer {
    int rank = 0;
    std::vector<std::int64_t> cells;  // of this rank, to send
  };
  std::vector<Peer> to_;
  struct Sender {
    int rank = 0;
    std::int64_t cells = 0;
  };
  std::vector<Sender> from_;
  bool exchanges_ = false;  // does any rank?
};

}  // namespace shoal::streams
