// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "streams/configuration.hpp"
#include "streams/exact_sum.hpp"
#include "streams/part.hpp"

namespace shoal::streams {

/// All part cells of a view of own cells; 0 where they are masked.
std::vector<double> part_values(const Part& part, const ArrayView& own);

/// Joins the cells of some dimensions of a part. Where none of these is cut, the result is cut as before:
/// local work. Otherwise all ranks get the whole result, and its bits do not depend on their number.
class Reducer {
 public:
  /// gone: for each dimension of the part, is it reduced over? cell_weights: [part cells of the grid] or
  /// empty: 1. dim_weights: for each outer dimension the weights of its chosen cells, or empty: 1.
  Reducer(std::shared_ptr<const Part> part, std::vector<bool> gone, SpaceOperation operation,
          std::vector<double> cell_weights, const std::vector<std::vector<double>>& dim_weights);

  const std::vector<bool>& gone() const { return gone_; }
  /// Is the result cut as the part is?
  bool stays_cut() const { return stays_cut_; }
  /// This rank's cells of the result; of one that is not cut, all.
  const Dims& shape() const { return shape_; }
  /// values: [part cells]; counts(cell): has the cell a value (masked ones are left out in any case)? Returns
  /// the cells of the result, fill where no cell counts. Collective unless stays_cut().
  std::vector<double> reduce(const Comm& comm, const std::vector<double>& values,
                             const std::function<bool(std::int64_t cell)>& counts, double fill) const;
  /// Of memory while it works.
  std::int64_t bytes() const;

 private:
  template <class Visit>
  void for_each_cell(const std::function<bool(std::int64_t)>& counts, Visit&& visit) const;
  std::vector<double> sums(const Comm& comm, const std::vector<double>& values,
                           const std::function<bool(std::int64_t)>& counts, double fill) const;
  std::vector<double> column_sums(const std::vector<double>& values,
                                  const std::function<bool(std::int64_t)>& counts, double fill) const;
  double finished(double total, double weight, double fill) const;
  std::vector<double> extremes(const Comm& comm, const std::vector<double>& values,
                               const std::function<bool(std::int64_t)>& counts, double fill) const;

  std::shared_ptr<const Part> part_;
  std::vector<bool> gone_;
  SpaceOperation operation_;
  bool stays_cut_ = true;
  Dims shape_;
  // Cell o * (cells of the grid) + g of the part goes to places_[o] + grid_places_[g] of the result, and its
  // weight is the product of two.
  std::vector<std::int64_t> places_, grid_places_;
  std::vector<double> weights_, grid_weights_;
};

}  // namespace shoal::streams
