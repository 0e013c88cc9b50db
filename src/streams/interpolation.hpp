// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/array_view.hpp"

namespace shoal::streams {

/// Values of columns at other levels. Immutable.
///
/// Between the levels z0 and z1 with the values v0 and v1 the target t has v0 + (v1 - v0) * w, with
/// w = (t - z0) / (z1 - z0), or the same of their logarithms; at a level its value. Of several such pairs of
/// levels that follow each other the last one counts. What lies outside of all levels, or beside a missing
/// value (NaN), is NaN.
class Interpolation {
 public:
  /// levels: those of all columns, which go up or down; none: each column has its own. Error(setting): they
  /// go up and down, or are no numbers of which there are logarithms.
  Interpolation(std::vector<double> targets, bool logarithmic, std::vector<double> levels);
  std::int64_t targets() const { return static_cast<std::int64_t>(targets_.size()); }
  bool has_levels() const { return !levels_.empty(); }
  /// For checkpoints: another one for other targets.
  std::string text() const;

  /// values: of numbers; `dim` of its dimensions is the vertical one. missing: a value of the field's type
  /// that counts as NaN, as is_missing() finds it. levels: doubles without gaps of the same extents, unless
  /// has_levels(). out: of the same extents but for `dim`, without gaps. Local.
  void run(const ArrayView& values, int dim, const std::optional<double>& missing, Type type,
           const double* levels, double* out) const;

 private:
  struct Between {
    std::int64_t level = -1;  ///< -1: outside
    bool is_level = false;    ///< its value
    double weight = 0;
  };
  double weight(double target, double above, double below) const;
  void find_weights();
  void fixed_levels(const double* values, std::int64_t n, std::int64_t row, double* out,
                    std::int64_t out_row) const;
  void own_levels(const double* values, std::int64_t n, std::int64_t row, std::int64_t count,
                  const double* levels, std::int64_t levels_row, double* out, std::int64_t out_row) const;

  std::vector<double> targets_, levels_;
  bool logarithmic_;
  std::vector<Between> between_;  // of each target, where levels are fixed
  std::vector<bool> is_used_;     // of each level
};

}  // namespace shoal::streams
