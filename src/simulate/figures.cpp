// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/figures.hpp"

#include <algorithm>

namespace shoal {

template <class T>
Figures<T> Collector<T>::figures() const {
  Figures<T> out;
  out.count = static_cast<std::int64_t>(values_.size());
  if (values_.empty()) return out;
  const auto [least, most] = std::pair(std::min_element(values_.begin(), values_.end()),
                                       std::max_element(values_.begin(), values_.end()));
  out.least = *least;
  out.most = *most;
  out.who_least = who_[static_cast<std::size_t>(least - values_.begin())];
  out.who_most = who_[static_cast<std::size_t>(most - values_.begin())];
  for (const T value : values_)
    out.sum += value;
  std::vector<T> sorted = values_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  out.median = *middle;
  return out;
}

Figures<std::int64_t> Tally::figures() const {
  Figures<std::int64_t> out;
  if (counts_.empty()) return out;
  for (const auto& [value, counted] : counts_) {
    out.count += counted.count;
    out.sum += value * counted.count;
  }
  out.least = counts_.begin()->first;
  out.who_least = counts_.begin()->second.first_who;
  out.most = counts_.rbegin()->first;
  out.who_most = counts_.rbegin()->second.first_who;
  std::int64_t before = 0;
  for (const auto& [value, counted] : counts_) {
    before += counted.count;
    out.median = value;
    if (before > out.count / 2) break;
  }
  return out;
}

template class Collector<double>;
template class Collector<std::int64_t>;

}  // namespace shoal
