// SPDX-License-Identifier: BSD-3-Clause
#include "pnetcdf/lists.hpp"

#include <algorithm>

#include "data/cells.hpp"

namespace door::pnetcdf {

List::List(const std::vector<int>& dims, bool puts, const door_call& call)
    : dims_(dims), puts_(puts), counted_(call.counts != nullptr) {
  const std::size_t ndims = dims.size(), num = static_cast<std::size_t>(call.num);
  given_.reserve(num * ndims * (counted_ ? 2 : 1));
  numbers_.reserve(num * ndims * 2);
  for (std::size_t i = 0; i < num; ++i) {
    const MPI_Offset* const start = call.starts[i];
    const MPI_Offset* const count = counted_ ? call.counts[i] : nullptr;
    given_.insert(given_.end(), start, start + ndims);
    numbers_.insert(numbers_.end(), start, start + ndims);
    if (count != nullptr) {
      given_.insert(given_.end(), count, count + ndims);
      numbers_.insert(numbers_.end(), count, count + ndims);
    } else {
      numbers_.insert(numbers_.end(), ndims, 1);
    }
  }
  left_ = num;
  drop_empty();
  while (join()) {
  }
  fold();
}

bool List::is_of(const std::vector<int>& dims, bool puts, const door_call& call) const {
  const std::size_t ndims = dims.size(), size = ndims * (counted_ ? 2 : 1);
  if (puts != puts_ || (call.counts != nullptr) != counted_ || dims != dims_ ||
      given_.size() != static_cast<std::size_t>(call.num) * size)
    return false;
  const std::int64_t* at = given_.data();
  for (int i = 0; i < call.num; ++i, at += size) {
    if (call.starts[i] == nullptr || !std::equal(at, at + ndims, call.starts[i])) return false;
    if (!counted_) continue;
    if (call.counts[i] == nullptr || !std::equal(at + ndims, at + size, call.counts[i])) return false;
  }
  return true;
}

std::int64_t List::cells_of(std::size_t i) const {
  std::int64_t cells = 1;
  for (std::size_t d = 0; d < dims_.size(); ++d)
    cells *= box(i)[dims_.size() + d];
  return cells;
}

void List::drop_empty() {
  const std::size_t size = 2 * dims_.size();
  std::size_t left = 0;
  for (std::size_t i = 0; i < left_; ++i)
    if (cells_of(i) > 0) {
      if (left != i) std::copy_n(box(i), size, numbers_.begin() + static_cast<std::ptrdiff_t>(left * size));
      ++left;
    }
  left_ = left;
}

// Are both one box, whose values are those of one and then those of the other? Along which dimension?
bool List::goes_on(const std::int64_t* before, const std::int64_t* next, std::size_t& dim) const {
  const std::size_t ndims = dims_.size();
  dim = 0;
  while (dim < ndims && before[dim] == next[dim] && before[ndims + dim] == 1 && next[ndims + dim] == 1)
    ++dim;
  if (dim == ndims || next[dim] != before[dim] + before[ndims + dim]) return false;
  for (std::size_t d = dim + 1; d < ndims; ++d)
    if (before[d] != next[d] || before[ndims + d] != next[ndims + d]) return false;
  return true;
}

// One box of each that goes on in the next one. Rows become planes when they are joined again.
bool List::join() {
  const std::size_t ndims = dims_.size(), size = 2 * ndims;
  std::size_t last = 0;
  for (std::size_t i = 1; i < left_; ++i) {
    std::size_t dim = 0;
    std::int64_t* const before = numbers_.data() + last * size;
    if (goes_on(before, box(i), dim))
      before[ndims + dim] += box(i)[ndims + dim];
    else if (++last != i)
      std::copy_n(box(i), size, before + size);
  }
  const bool joined = left_ > 0 && last + 1 < left_;
  if (left_ > 0) left_ = last + 1;
  return joined;
}

// Has each group of so many boxes the first one's, one further along the dimension?
bool List::repeats(std::size_t dim, std::size_t group) const {
  const std::size_t ndims = dims_.size();
  for (std::size_t i = 0; i < left_; ++i) {
    const std::int64_t* const own = box(i);
    const std::int64_t* const first = box(i % group);
    if (own[ndims + dim] != 1 || own[dim] != first[dim] + static_cast<std::int64_t>(i / group)) return false;
    for (std::size_t d = 0; d < ndims; ++d)
      if (own[ndims + d] != first[ndims + d] || (d != dim && own[d] != first[d])) return false;
  }
  return true;
}

// Along each dimension, from the first one on: does the first group stand for all?
void List::fold() {
  const std::size_t ndims = dims_.size();
  Numbers groups(ndims, 1), apart(ndims, 0);  // so many, whose cells are so far from each other
  bool folded = false;
  for (std::size_t dim = 0; dim < ndims && left_ > 1; ++dim) {
    std::size_t group = 1;
    while (group < left_ && box(group)[dim] == box(0)[dim] && box(group)[ndims + dim] == box(0)[ndims + dim])
      ++group;
    if (group == left_) continue;
    if (left_ % group != 0 || !repeats(dim, group)) break;
    groups[dim] = static_cast<std::int64_t>(left_ / group);
    left_ = group;
    for (std::size_t i = 0; i < left_; ++i)
      apart[dim] += cells_of(i);
    folded = true;
  }
  std::int64_t first = 0;
  for (std::size_t i = 0; i < left_; ++i) {
    first_.push_back(first);
    first += cells_of(i);
  }
  for (const std::int64_t group : groups)
    first *= group;
  first_.push_back(first);
  numbers_.resize(2 * ndims * left_);
  numbers_.shrink_to_fit();
  if (folded) stretch(groups, apart);
}

// Each box is what its groups have together.
void List::stretch(const Numbers& groups, const Numbers& apart) {
  const std::size_t ndims = dims_.size();
  for (std::size_t i = 0; i < left_; ++i) {
    std::int64_t* const count = numbers_.data() + (2 * i + 1) * ndims;
    const Steps steps = contiguous({count, count + ndims}, 1);
    for (std::size_t d = 0; d < ndims; ++d) {
      steps_.push_back(groups[d] > 1 ? apart[d] : steps[d]);
      count[d] *= groups[d];
    }
  }
}

Box List::box_of(std::size_t i, const Box& all) const {
  const auto size = static_cast<std::int64_t>(size_of(all.type));
  Box one = all;
  one.start.assign(start(i), start(i) + ndims());
  one.count.assign(count(i), count(i) + ndims());
  one.stride.assign(ndims(), 1);
  one.values = static_cast<char*>(all.values) + first(i) * size;
  for (std::size_t d = 0; steps(i) != nullptr && d < ndims(); ++d)
    one.steps.push_back(steps(i)[d] * size);
  return one;
}

}  // namespace door::pnetcdf
