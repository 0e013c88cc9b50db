// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace shoal {

/// A vector of things that have numbers of any integer type: dimensions, variables, ranks, files of a set.
template <class T>
class Numbered : public std::vector<T> {
  using Vector = std::vector<T>;

 public:
  using Vector::Vector;
  Numbered() = default;
  Numbered(Vector items) : Vector(std::move(items)) {}
  explicit Numbered(std::integral auto n) : Vector(static_cast<std::size_t>(n)) {}
  Numbered(std::integral auto n, const T& value) : Vector(static_cast<std::size_t>(n), value) {}

  decltype(auto) operator[](std::integral auto i) { return Vector::operator[](static_cast<std::size_t>(i)); }
  decltype(auto) operator[](std::integral auto i) const {
    return Vector::operator[](static_cast<std::size_t>(i));
  }
  decltype(auto) at(std::integral auto i) { return Vector::at(static_cast<std::size_t>(i)); }
  decltype(auto) at(std::integral auto i) const { return Vector::at(static_cast<std::size_t>(i)); }
  void resize(std::integral auto n) { Vector::resize(static_cast<std::size_t>(n)); }
  void resize(std::integral auto n, const T& value) { Vector::resize(static_cast<std::size_t>(n), value); }
  void reserve(std::integral auto n) { Vector::reserve(static_cast<std::size_t>(n)); }
  using Vector::assign;
  void assign(std::integral auto n, const T& value) { Vector::assign(static_cast<std::size_t>(n), value); }

  int count() const { return static_cast<int>(Vector::size()); }
  bool has(std::integral auto i) const {
    return std::cmp_greater_equal(i, 0) && std::cmp_less(i, Vector::size());
  }
};

}  // namespace shoal
