// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace shoal {

/// A value for each rank, node, box or I/O rank: a vector whose places are their numbers, which are ints.
template <class T>
class ByNumber : public std::vector<T> {
 public:
  ByNumber() = default;
  explicit ByNumber(int count, const T& value = T()) : std::vector<T>(place(count), value) {}
  ByNumber(std::vector<T> values) : std::vector<T>(std::move(values)) {}

  decltype(auto) operator[](int i) { return std::vector<T>::operator[](place(i)); }
  decltype(auto) operator[](int i) const { return std::vector<T>::operator[](place(i)); }
  int count() const { return static_cast<int>(this->size()); }

 private:
  static std::size_t place(int i) { return static_cast<std::size_t>(i); }
};

}  // namespace shoal
