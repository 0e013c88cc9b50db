// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>

namespace shoal {

inline constexpr int k_max_dims = 16;

/// Up to k_max_dims numbers, one a dimension: a shape, an index, strides. Slowest dimension first. A copy of
/// few numbers, as nearly all fields have, is no dearer because there may be many: a small write makes
/// hundreds.
class Dims {
 public:
  Dims() { std::memset(v_.data(), 0, k_few_bytes); }
  explicit Dims(int n, std::int64_t value = 0) : n_(n) {
    assert(n >= 0 && n <= k_max_dims);
    for (int d = 0; d < k_few; ++d)
      v_[static_cast<std::size_t>(d)] = d < n ? value : 0;
    if (n > k_few) fill_more(value);
  }
  Dims(const Dims& other) : n_(other.n_) { copy(other); }
  Dims& operator=(const Dims& other) {
    if (this == &other) return *this;
    n_ = other.n_;
    copy(other);
    return *this;
  }
  Dims(std::initializer_list<std::int64_t> values)
      : Dims(std::span<const std::int64_t>(values.begin(), values.size())) {}
  explicit Dims(std::span<const std::int64_t> values) : Dims(static_cast<int>(values.size())) {
    std::copy(values.begin(), values.end(), v_.begin());
  }

  int size() const { return n_; }
  bool empty() const { return n_ == 0; }
  std::int64_t& operator[](int i) { return v_[static_cast<std::size_t>(i)]; }
  std::int64_t operator[](int i) const { return v_[static_cast<std::size_t>(i)]; }
  const std::int64_t* begin() const { return v_.data(); }
  const std::int64_t* end() const { return v_.data() + n_; }
  std::int64_t* begin() { return v_.data(); }
  std::int64_t* end() { return v_.data() + n_; }
  const std::int64_t* data() const { return v_.data(); }
  void push_back(std::int64_t value) {
    assert(n_ < k_max_dims);
    v_[static_cast<std::size_t>(n_++)] = value;
  }
  friend bool operator==(const Dims& a, const Dims& b) {
    return a.n_ == b.n_ && std::equal(a.begin(), a.end(), b.begin());
  }

  /// In messages (ByteWriter, ByteReader): as many numbers as there are.
  template <class Writer>
  void pack(Writer& out) const {
    out.put(n_);
    for (const std::int64_t value : *this)
      out.put(value);
  }
  template <class Reader>
  void unpack(Reader& in) {
    int n = 0;
    in.get(n);
    if (n < 0 || n > k_max_dims) throw std::length_error("more dimensions than there may be");
    *this = Dims(n);
    for (std::int64_t& value : *this)
      in.get(value);
  }

 private:
  static constexpr int k_few = 4;  // a record's number, and three dimensions of space
  static constexpr std::size_t k_few_bytes = k_few * sizeof(std::int64_t);
  // Numbers k_few to n_ - 1; not inline, so that what is inline stays short.
  void copy_more(const Dims& other);
  void fill_more(std::int64_t value);
  void copy(const Dims& other) {
    std::memcpy(v_.data(), other.v_.data(), k_few_bytes);
    if (n_ > k_few) copy_more(other);
  }

  int n_ = 0;
  std::array<std::int64_t, k_max_dims> v_;  // from k_few on, n_ of them alone have a value
};

/// Product of all numbers; 1 if there are none.
std::int64_t volume(const Dims& shape);
/// [front..., back...].
Dims joined(const Dims& front, const Dims& back);
/// The n last, or all but the n first, numbers.
Dims tail(const Dims& dims, int n);
/// Elements from one index to the next in a row-major array of the shape.
Dims row_major_strides(const Dims& shape);
/// The same in bytes.
Dims byte_strides(const Dims& shape, std::size_t element_size);
/// Index of the linear position in a row-major array of the shape.
Dims unravel(std::int64_t position, const Dims& shape);
/// "656x640x16", in the order of the caller's language; "scalar" if there are no dimensions.
std::string text_of(const Dims& shape);

/// Cells first .. first + count - 1 in every dimension (0-based). A box of no dimensions has one cell.
struct Box {
  Dims first;
  Dims count;

  Box() = default;
  Box(Dims first_cell, Dims cells) : first(first_cell), count(cells) { assert(first.size() == count.size()); }
  static Box whole(const Dims& shape) { return {Dims(shape.size()), shape}; }

  int rank() const { return count.size(); }
  std::int64_t cells() const { return volume(count); }
  bool empty() const { return cells() == 0; }
  std::int64_t end(int d) const { return first[d] + count[d]; }
  bool contains(const Box& other) const;
  friend bool operator==(const Box& a, const Box& b) { return a.first == b.first && a.count == b.count; }
  template <class Writer>
  void pack(Writer& out) const {
    out.put(first);
    out.put(count);
  }
  template <class Reader>
  void unpack(Reader& in) {
    in.get(first);
    in.get(count);
  }
};

/// Bytes of the cells of a box, each of so many.
inline std::size_t bytes_of(const Box& box, std::size_t element_size) {
  return static_cast<std::size_t>(box.cells()) * element_size;
}

/// The common cells; a box with count 0 everywhere if there are none.
Box intersection(const Box& a, const Box& b);
/// Smallest box that holds both; an empty one counts for nothing.
Box bounding(const Box& a, const Box& b);
/// Row-major position of box.first in a row-major array that holds exactly `within`.
std::int64_t position_in(const Dims& index, const Box& within);
/// "[0:10, 5:20)": first and end of every dimension, from 0, end exclusive; to Fortran "(6:20, 1:10)".
std::string text_of(const Box& box);

}  // namespace shoal
