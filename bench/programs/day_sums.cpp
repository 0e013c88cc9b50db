// SPDX-License-Identifier: BSD-3-Clause
#include "programs/day_sums.hpp"

#include <algorithm>
#include <stdexcept>

namespace shoal::bench {

namespace {

const LocalField& array_of(const std::vector<LocalField>& arrays, const std::string& name) {
  const auto found = std::find_if(arrays.begin(), arrays.end(),
                                  [&](const LocalField& array) { return array.field().name == name; });
  if (found == arrays.end()) throw std::logic_error("no array of field " + name);
  return *found;
}

// f(first cell of a row in the array, its number among owned cells, cells of the row)
template <class F>
void for_rows(const LocalField& array, F&& f) {
  const auto rows = array.tile().rows, columns = array.tile().columns;
  for (std::int64_t k = 0; k < array.field().levels(); ++k)
    for (std::int64_t j = 0; j < rows; ++j)
      f(k * array.level_pitch() + j * array.row_pitch(), (k * rows + j) * columns, columns);
}

const float* cells_of(const LocalField& array) {
  return reinterpret_cast<const float*>(array.interior(0));
}
float* cells_of(LocalField& array) {
  return reinterpret_cast<float*>(array.interior(0));
}

void add_row(double* sums, const float* x, double weight, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    sums[i] += weight * static_cast<double>(x[i]);
}
void highest_row(float* kept, const float* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    kept[i] = x[i] > kept[i] ? x[i] : kept[i];
}
void lowest_row(float* kept, const float* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    kept[i] = x[i] < kept[i] ? x[i] : kept[i];
}

}  // namespace

DaySums::DaySums(const Session& session, const std::vector<LocalField>& state)
    : steps_(steps_of_day(session.setup())) {
  const auto& setup = session.setup();
  for (const auto file : {k_means, k_extremes})
    arrays_[file] = make_arrays(session.files()[file].content, setup.grid, setup.tiling, session.rank(), 1,
                                Purpose::read);
  for (const auto& field : session.files()[k_instants].content.fields)
    if (field.distributed) arrays_[k_instants].emplace_back(field, array_of(state, field.name));
  for (auto& into : arrays_[k_means])
    sums_.push_back({&array_of(state, into.field().name), &into, {}});
  for (std::size_t i = 0; i < extremes().size(); ++i)
    kept_.push_back({&array_of(state, extremes()[i].of), &arrays_[k_extremes][i], extremes()[i].highest});
}

// Steps count in microseconds, as in Shoal's streams: then means have the same bits.
void DaySums::step(std::int64_t number) {
  add(k_day_seconds * 1e6 / static_cast<double>(steps_));
  if (number % steps_ == 0) finish();
}

void DaySums::add(double weight) {
  for (auto& [from, into, sums] : sums_) {
    sums.resize(static_cast<std::size_t>(into->owned()));  // in the run, as streams do it: pages are new
    for_rows(*from, [&](std::int64_t at, std::int64_t cell, std::int64_t n) {
      add_row(sums.data() + cell, cells_of(*from) + at, weight, n);
    });
  }
  for (auto& [from, into, highest] : kept_)
    for_rows(*from, [&](std::int64_t at, std::int64_t, std::int64_t n) {
      const float* x = cells_of(*from) + at;
      float* kept = cells_of(*into) + at;
      if (weight_ == 0)
        std::copy_n(x, n, kept);
      else if (highest)
        highest_row(kept, x, n);
      else
        lowest_row(kept, x, n);
    });
  weight_ += weight;
}

void DaySums::finish() {
  for (auto& [from, into, sums] : sums_) {
    for_rows(*into, [&](std::int64_t at, std::int64_t cell, std::int64_t n) {
      float* mean = cells_of(*into) + at;
      const double* sum = sums.data() + cell;
      for (std::int64_t i = 0; i < n; ++i)
        mean[i] = static_cast<float>(sum[i] / weight_);
    });
    std::fill(sums.begin(), sums.end(), 0.0);
  }
  weight_ = 0;
}

}  // namespace shoal::bench
