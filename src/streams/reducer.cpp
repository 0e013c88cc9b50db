// SPDX-License-Identifier: BSD-3-Clause
#include "streams/reducer.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/error.hpp"
#include "codec/convert.hpp"
#include "streams/nth.hpp"

namespace shoal::streams {

namespace {

constexpr std::int64_t k_none = std::numeric_limits<std::int64_t>::min();

// Numbers of the same order as the doubles; NaN above all, so that it stays.
std::int64_t ordered(double value) {
  if (value != value) return std::numeric_limits<std::int64_t>::max();
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits >= 0 ? bits : -(bits & std::numeric_limits<std::int64_t>::max());
}
double unordered(std::int64_t key) {
  if (key == std::numeric_limits<std::int64_t>::max()) return std::numeric_limits<double>::quiet_NaN();
  return key >= 0 ? std::bit_cast<double>(key) : -std::bit_cast<double>(-key);
}

}  // namespace

std::vector<double> part_values(const Part& part, const ArrayView& own) {
  std::vector<double> out(static_cast<std::size_t>(part.cells()));
  const ConvertRun convert =
      find_conversion({own.type, own.element_size, false}, {Type::double_, sizeof(double), false});
  part.for_each_run(own, [&](const std::byte* data, std::int64_t stride, std::int64_t n, std::int64_t cell) {
    convert(data, stride, reinterpret_cast<std::byte*>(out.data() + cell), sizeof(double), n, nullptr);
  });
  return out;
}

Reducer::Reducer(std::shared_ptr<const Part> part, std::vector<bool> gone, SpaceOperation operation,
                 std::vector<double> cell_weights, const std::vector<std::vector<double>>& dim_weights)
    : part_(std::move(part)),
      gone_(std::move(gone)),
      operation_(operation),
      grid_weights_(std::move(cell_weights)) {
  const int outer = part_->outer_dims(), nd = static_cast<int>(gone_.size());
  for (int d = outer; d < nd; ++d)
    stays_cut_ = stays_cut_ && !nth(gone_, d);
  // Lengths of what is kept, and how far apart its cells lie in the result.
  Dims local_outer, kept;
  std::vector<int> kept_dims;
  for (int d = 0; d < outer; ++d) {
    const std::int64_t length = nth(part_->choices(), d).chosen();
    local_outer.push_back(length);
    if (nth(gone_, d)) continue;
    kept.push_back(length);
    kept_dims.push_back(d);
  }
  Dims grid_shape;
  for (int d = outer; d < part_->local_shape().size(); ++d)
    grid_shape.push_back(part_->local_shape()[d]);
  const std::int64_t grid_cells = volume(grid_shape);
  if (stays_cut_) {
    shape_ = joined(kept, grid_shape);
  } else {
    for (int d = outer; d < nd; ++d)
      if (!nth(gone_, d)) {
        kept.push_back(nth(part_->choices(), d).chosen());
        kept_dims.push_back(d);
      }
    shape_ = kept;
    if (volume(shape_) > std::numeric_limits<int>::max() / (2 * ExactSum::k_words + 1))
      throw Error(Code::not_supported,
                  "the result has {} cells; reduce over more dimensions, or over those alone "
                  "that are not cut",
                  volume(shape_));
  }
  const Dims strides = row_major_strides(kept);
  const std::int64_t scale = stays_cut_ ? grid_cells : 1;
  places_.resize(static_cast<std::size_t>(volume(local_outer)));
  weights_.assign(places_.size(), 1.0);
  for (std::size_t o = 0; o < places_.size(); ++o) {
    const Dims at = unravel(static_cast<std::int64_t>(o), local_outer);
    for (std::size_t k = 0; k < kept_dims.size(); ++k)
      if (kept_dims[k] < outer) places_[o] += at[kept_dims[k]] * strides[static_cast<int>(k)] * scale;
    for (int d = 0; d < outer; ++d)
      if (!nth(dim_weights, d).empty()) weights_[o] *= nth(nth(dim_weights, d), at[d]);
  }
  grid_places_.resize(static_cast<std::size_t>(grid_cells));
  for (std::size_t g = 0; g < grid_places_.size(); ++g) {
    if (stays_cut_) {
      grid_places_[g] = static_cast<std::int64_t>(g);
      continue;
    }
    const Dims at = part_->index_in_file(static_cast<std::int64_t>(g));  // with 0 in the outer dimensions
    for (std::size_t k = 0; k < kept_dims.size(); ++k)
      if (kept_dims[k] >= outer) grid_places_[g] += at[kept_dims[k]] * strides[static_cast<int>(k)];
  }
}

std::int64_t Reducer::bytes() const {
  const std::int64_t words = operation_ == SpaceOperation::minimum || operation_ == SpaceOperation::maximum
                                 ? 1
                             : stays_cut_ ? 3
                                          : 4 * ExactSum::k_words;
  return volume(shape_) * words * 8;
}

template <class Visit>
void Reducer::for_each_cell(const std::function<bool(std::int64_t)>& counts, Visit&& visit) const {
  std::int64_t cell = 0;
  for (std::size_t o = 0; o < places_.size(); ++o)
    for (std::size_t g = 0; g < grid_places_.size(); ++g, ++cell)
      if (!part_->is_masked(cell) && counts(cell))
        visit(cell, static_cast<std::size_t>(places_[o] + grid_places_[g]),
              weights_[o] * (grid_weights_.empty() ? 1.0 : grid_weights_[g]));
}

std::vector<double> Reducer::reduce(const Comm& comm, const std::vector<double>& values,
                                    const std::function<bool(std::int64_t)>& counts, double fill) const {
  return operation_ == SpaceOperation::minimum || operation_ == SpaceOperation::maximum
             ? extremes(comm, values, counts, fill)
             : sums(comm, values, counts, fill);
}

// What is joined lies on one rank, and comes in the same order however the model was cut: no need for more.
std::vector<double> Reducer::column_sums(const std::vector<double>& values,
                                         const std::function<bool(std::int64_t)>& counts, double fill) const {
  const auto cells = static_cast<std::size_t>(volume(shape_));
  std::vector<double> totals(cells), weights(cells);
  std::vector<bool> counted(cells);
  for_each_cell(counts, [&](std::int64_t cell, std::size_t place, double weight) {
    totals[place] += weight * nth(values, cell);
    weights[place] += weight;
    counted[place] = true;
  });
  for (std::size_t i = 0; i < cells; ++i)
    totals[i] = counted[i] ? finished(totals[i], weights[i], fill) : fill;
  return totals;
}

double Reducer::finished(double total, double weight, double fill) const {
  if (operation_ == SpaceOperation::sum) return total;
  return weight > 0 ? total / weight : fill;
}

std::vector<double> Reducer::sums(const Comm& comm, const std::vector<double>& values,
                                  const std::function<bool(std::int64_t)>& counts, double fill) const {
  if (stays_cut_) return column_sums(values, counts, fill);
  constexpr std::size_t n = ExactSum::k_words;
  const auto cells = static_cast<std::size_t>(volume(shape_));
  std::vector<std::int64_t> words(cells * (2 * n + 1));
  {
    std::vector<ExactSum> totals(cells), weights(cells);
    for_each_cell(counts, [&](std::int64_t cell, std::size_t place, double weight) {
      totals[place].add(weight * nth(values, cell));
      weights[place].add(weight);
      words[cells * 2 * n + place] += 1;
    });
    for (std::size_t i = 0; i < cells; ++i) {
      totals[i].words(std::span(words).subspan(i * 2 * n, n));
      weights[i].words(std::span(words).subspan((i * 2 + 1) * n, n));
    }
  }
  words = comm.sum(std::move(words));
  std::vector<double> out(cells, fill);
  for (std::size_t i = 0; i < cells; ++i)
    if (words[cells * 2 * n + i] > 0)
      out[i] = finished(ExactSum::of(std::span(words).subspan(i * 2 * n, n)).value(),
                        ExactSum::of(std::span(words).subspan((i * 2 + 1) * n, n)).value(), fill);
  return out;
}

std::vector<double> Reducer::extremes(const Comm& comm, const std::vector<double>& values,
                                      const std::function<bool(std::int64_t)>& counts, double fill) const {
  const auto cells = static_cast<std::size_t>(volume(shape_));
  const bool lowest = operation_ == SpaceOperation::minimum;
  std::vector<std::int64_t> keys(cells, k_none);
  for_each_cell(counts, [&](std::int64_t cell, std::size_t place, double) {
    const double value = nth(values, cell);
    keys[place] = std::max(keys[place], ordered(lowest ? -value : value));
  });
  if (!stays_cut_) keys = comm.max(std::move(keys));
  std::vector<double> out(cells, fill);
  for (std::size_t i = 0; i < cells; ++i)
    if (keys[i] != k_none) out[i] = lowest ? -unordered(keys[i]) : unordered(keys[i]);
  return out;
}

}  // namespace shoal::streams
