// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/hash.hpp"
#include "pack/strided_box.hpp"

namespace shoal {

/// Two hashes of one thing, by which it is known again.
using TwoHashes = std::pair<std::uint64_t, std::uint64_t>;

/// Of what `add` adds to each.
template <class Add>
TwoHashes two_hashes(Add&& add) {
  Hash first, second;
  second.add(1);
  add(first);
  add(second);
  return {first.value(), second.value()};
}

/// A box of a list, as its numbers in the list.
class ListedBox {
 public:
  ListedBox(const std::int64_t* numbers, int rank) : numbers_(numbers), rank_(rank) {}

  int rank() const { return rank_; }
  std::int64_t start(int d) const { return numbers_[d]; }
  std::int64_t count(int d) const { return numbers_[rank_ + d]; }
  std::int64_t stride(int d) const { return numbers_[2 * rank_ + d]; }
  std::int64_t end(int d) const { return start(d) + (count(d) - 1) * stride(d) + 1; }
  bool is_dense() const;
  std::int64_t cells() const;
  /// Are both the same in a dimension?
  bool is_like(const ListedBox& other, int d) const {
    return start(d) == other.start(d) && count(d) == other.count(d) && stride(d) == other.stride(d);
  }
  /// Has one's surrounding cells of the other's?
  bool meets(const ListedBox& other) const {
    for (int d = 0; d < rank_; ++d)
      if (start(d) >= other.end(d) || other.start(d) >= end(d)) return false;
    return true;
  }
  StridedBox box() const;
  Box around() const { return box().around(); }

 private:
  const std::int64_t* numbers_;
  int rank_;
};

/// Boxes with as many dimensions each, none of them empty, in a few bytes a box.
class BoxList {
 public:
  explicit BoxList(int rank = 0) : rank_(rank) {}

  int rank() const { return rank_; }
  int count() const { return count_; }
  ListedBox operator[](int i) const { return {numbers_.data() + 3 * rank_ * std::ptrdiff_t{i}, rank_}; }
  void push_back(const StridedBox& box);
  void push_back(const ListedBox& box, int from = 0);  ///< in the dimensions from `from` on
  void clear() { numbers_.clear(), count_ = 0; }

  /// In messages: a byte or two for each number, as boxes begin near the one before.
  void pack(ByteWriter& out) const;
  void unpack(ByteReader& in);
  void add_to(Hash& hash) const;
  TwoHashes hashes() const {
    return two_hashes([&](Hash& hash) { add_to(hash); });
  }
  friend bool operator==(const BoxList&, const BoxList&) = default;

 private:
  int rank_ = 0, count_ = 0;
  std::vector<std::int64_t> numbers_;  // of each: starts, counts, strides (1 where only one cell is)
};

/// Small numbers in few bytes, seven bits in each; others in up to ten.
void pack_number(ByteWriter& out, std::uint64_t number);
std::uint64_t unpack_number(ByteReader& in);
/// The same, of numbers below 0 too.
void pack_difference(ByteWriter& out, std::int64_t number, std::int64_t before);
std::int64_t unpack_difference(ByteReader& in, std::int64_t before);

}  // namespace shoal
