// SPDX-License-Identifier: BSD-3-Clause
#include "streams/interpolation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "codec/convert.hpp"
#include "codec/isa.hpp"
#include "streams/nth.hpp"

namespace shoal::streams {

namespace {

constexpr std::int64_t k_together = 512;  // columns at once, whose values stay in the cache
constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

/// Between two rows.
struct Mix {
  [[gnu::always_inline]] static inline void run(const double* above, const double* below, double weight,
                                                std::int64_t n, double* out) {
    for (std::int64_t i = 0; i < n; ++i)
      out[i] = above[i] + (below[i] - above[i]) * weight;
  }
};

/// Missing values are NaN.
struct Blank {
  [[gnu::always_inline]] static inline void run(double* row, std::int64_t n, double missing, bool as_float) {
    if (as_float && std::abs(missing) <= std::numeric_limits<float>::max()) {
      const auto narrow = static_cast<float>(missing);
      for (std::int64_t i = 0; i < n; ++i)
        row[i] = static_cast<float>(row[i]) == narrow ? k_nan : row[i];
    } else {
      for (std::int64_t i = 0; i < n; ++i)
        row[i] = row[i] == missing ? k_nan : row[i];
    }
  }
};

/// The lowest and the highest of a row; of NaN alone, none.
struct Ends {
  [[gnu::always_inline]] static inline void run(const double* row, std::int64_t n, double* ends) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::int64_t i = 0; i < n; ++i) {
      low = row[i] < low ? row[i] : low;
      high = row[i] > high ? row[i] : high;
    }
    ends[0] = low;
    ends[1] = high;
  }
};

/// Columns in which the target lies between these two levels.
struct MixOwn {
  [[gnu::always_inline]] static inline void run(const double* above, const double* below, const double* z0,
                                                const double* z1, double target, std::int64_t n,
                                                double* out) {
    for (std::int64_t i = 0; i < n; ++i) {
      const bool inside = ((z0[i] <= target) & (target <= z1[i])) | ((z1[i] <= target) & (target <= z0[i]));
      const double weight = (target - z0[i]) / (z1[i] - z0[i]);
      double mixed = above[i] + (below[i] - above[i]) * weight;
      mixed = target == z1[i] ? below[i] : mixed;
      mixed = target == z0[i] ? above[i] : mixed;
      out[i] = inside ? mixed : out[i];
    }
  }
};

}  // namespace

Interpolation::Interpolation(std::vector<double> targets, bool logarithmic, std::vector<double> levels)
    : targets_(std::move(targets)), levels_(std::move(levels)), logarithmic_(logarithmic) {
  if (!levels_.empty()) find_weights();
}

std::string Interpolation::text() const {
  std::string text = logarithmic_ ? "logarithmic to" : "to";
  for (const double target : targets_)
    text += fmt::format(" {}", target);
  return text;
}

double Interpolation::weight(double target, double above, double below) const {
  if (!logarithmic_) return (target - above) / (below - above);
  const double at = std::log(above);
  return (std::log(target) - at) / (std::log(below) - at);
}

void Interpolation::find_weights() {
  for (std::size_t k = 0; k + 1 < levels_.size(); ++k)
    if (!((levels_[k] < levels_[k + 1]) == (levels_[0] < levels_[1])) || levels_[k] == levels_[k + 1])
      throw Error(Code::setting, "its levels do not go up or down: {} comes before {}", levels_[k],
                  levels_[k + 1]);
  const double least = std::min(levels_.front(), levels_.back());
  if (logarithmic_ && !(least > 0))
    throw Error(Code::setting, "a level is {}, and there are no logarithms but of numbers above 0", least);
  for (const double target : targets_) {
    Between between;
    for (std::size_t k = 0; k < levels_.size() && between.level < 0; ++k) {
      const double here = levels_[k], next = k + 1 < levels_.size() ? levels_[k + 1] : here;
      if (target == here)
        between = {static_cast<std::int64_t>(k), true, 0};
      else if ((here < target && target < next) || (next < target && target < here))
        between = {static_cast<std::int64_t>(k), false, weight(target, here, next)};
    }
    between_.push_back(between);
    is_used_.resize(levels_.size());
    if (between.level >= 0) is_used_[static_cast<std::size_t>(between.level)] = true;
    if (between.level >= 0 && !between.is_level) is_used_[static_cast<std::size_t>(between.level + 1)] = true;
  }
}

void Interpolation::fixed_levels(const double* values, std::int64_t n, std::int64_t row, double* out,
                                 std::int64_t out_row) const {
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    const Between& between = between_[t];
    double* const to = out + static_cast<std::int64_t>(t) * out_row;
    if (between.level < 0)
      std::fill_n(to, n, k_nan);
    else if (between.is_level)
      std::copy_n(values + between.level * row, n, to);
    else
      run_best<Mix>(values + between.level * row, values + (between.level + 1) * row, between.weight, n, to);
  }
}

// Only targets that some of the columns have between two levels are looked at there.
void Interpolation::own_levels(const double* values, std::int64_t n, std::int64_t row, std::int64_t count,
                               const double* levels, std::int64_t levels_row, double* out,
                               std::int64_t out_row) const {
  for (std::size_t t = 0; t < targets_.size(); ++t)
    std::fill_n(out + static_cast<std::int64_t>(t) * out_row, n, k_nan);
  double above[2], below[2];
  run_best<Ends>(levels, n, static_cast<double*>(above));
  for (std::int64_t k = 0; k + 1 < count; ++k) {
    const double *z0 = levels + k * levels_row, *z1 = z0 + levels_row;
    const double *v0 = values + k * row, *v1 = v0 + row;
    run_best<Ends>(z1, n, static_cast<double*>(below));
    const double low = std::min(above[0], below[0]), high = std::max(above[1], below[1]);
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      const double target = targets_[t];
      if (!(low <= target && target <= high)) continue;
      double* const to = out + static_cast<std::int64_t>(t) * out_row;
      if (!logarithmic_) {
        run_best<MixOwn>(v0, v1, z0, z1, target, n, to);
        continue;
      }
      for (std::int64_t i = 0; i < n; ++i) {
        if (!((z0[i] <= target && target <= z1[i]) || (z1[i] <= target && target <= z0[i]))) continue;
        to[i] = target == z0[i]   ? v0[i]
                : target == z1[i] ? v1[i]
                                  : v0[i] + (v1[i] - v0[i]) * weight(target, z0[i], z1[i]);
      }
    }
    std::copy_n(static_cast<double*>(below), 2, static_cast<double*>(above));
  }
}

void Interpolation::run(const ArrayView& values, int dim, const std::optional<double>& missing, Type type,
                        const double* levels, double* out) const {
  const Dims& extents = values.extents;
  if (volume(extents) == 0) return;
  const std::int64_t count = extents[dim];
  // Rows are those of the last dimension; what lies between it and the vertical one are places.
  const int last = extents.size() - 1;
  const bool has_row = last > dim;
  const std::int64_t width = has_row ? extents[last] : 1;
  Dims before, between;
  for (int d = 0; d < dim; ++d)
    before.push_back(extents[d]);
  for (int d = dim + 1; d < last; ++d)
    between.push_back(extents[d]);
  const std::int64_t places = volume(between), level_stride = places * width;
  const std::int64_t step = has_row ? values.strides[last] : static_cast<std::int64_t>(values.element_size);
  const ConvertRun convert =
      find_conversion({values.type, values.element_size, false}, {Type::double_, sizeof(double), false});
  std::vector<double> rows(static_cast<std::size_t>(count * std::min(width, k_together)));
  for (std::int64_t b = 0; b < volume(before); ++b) {
    const Dims at_before = unravel(b, before);
    for (std::int64_t p = 0; p < places; ++p) {
      const std::byte* data = values.data;
      const Dims at = unravel(p, between);
      for (int d = 0; d < dim; ++d)
        data += at_before[d] * values.strides[d];
      for (int d = 0; d < at.size(); ++d)
        data += at[d] * values.strides[dim + 1 + d];
      for (std::int64_t i = 0; i < width; i += k_together) {
        const std::int64_t n = std::min(k_together, width - i);
        for (std::int64_t k = 0; k < count; ++k) {
          if (has_levels() && !is_used_[static_cast<std::size_t>(k)]) continue;
          double* const to = rows.data() + k * n;
          convert(data + k * values.strides[dim] + i * step, step, reinterpret_cast<std::byte*>(to),
                  sizeof(double), n, nullptr);
          if (missing) run_best<Blank>(to, n, *missing, values.type == Type::float_ || type == Type::float_);
        }
        double* const to = out + b * targets() * level_stride + p * width + i;
        if (has_levels())
          fixed_levels(rows.data(), n, n, to, level_stride);
        else
          own_levels(rows.data(), n, n, count, levels + b * count * level_stride + p * width + i,
                     level_stride, to, level_stride);
      }
    }
  }
}

}  // namespace shoal::streams
