// SPDX-License-Identifier: BSD-3-Clause
// Cells of boxes in memory, of both doors: `Box` has start, count and stride in its variable.
#ifndef SHOAL_DOORS_DATA_CELLS_HPP
#define SHOAL_DOORS_DATA_CELLS_HPP

#include <cstdint>
#include <cstring>
#include <vector>

namespace door {

using Steps = std::vector<std::int64_t>;  // bytes from one cell to the next, of each dimension

inline Steps contiguous(const std::vector<std::int64_t>& count, std::size_t size) {
  Steps steps(count.size());
  auto step = static_cast<std::int64_t>(size);
  for (std::size_t i = count.size(); i-- > 0;) {
    steps[i] = step;
    step *= count[i];
  }
  return steps;
}

// Values of `size` bytes from one array to another of the same extents.
inline void copy(const std::vector<std::int64_t>& count, std::size_t size, const char* from,
                 const Steps& from_steps, char* to, const Steps& to_steps, std::size_t dim = 0) {
  if (dim == count.size()) {
    std::memcpy(to, from, size);
    return;
  }
  for (std::int64_t i = 0; i < count[dim]; ++i)
    copy(count, size, from + i * from_steps[dim], from_steps, to + i * to_steps[dim], to_steps, dim + 1);
}

// One behind the last index of the first dimension, of a box that is not empty.
template <class Box>
std::int64_t end_of(const Box& box) {
  return box.start[0] + (box.count[0] - 1) * box.stride[0] + 1;
}

// Copies cells of `from` that are also in `to`, dimension by dimension.
template <class From, class To>
void lay_over(const From& from, const To& to, const Steps& from_steps, const Steps& to_steps, std::size_t dim,
              const char* source, char* target, std::size_t size) {
  if (dim == from.count.size()) {
    std::memcpy(target, source, size);
    return;
  }
  for (std::int64_t i = 0; i < from.count[dim]; ++i) {
    const std::int64_t ahead = from.start[dim] + i * from.stride[dim] - to.start[dim];
    if (ahead < 0 || ahead % to.stride[dim] != 0 || ahead / to.stride[dim] >= to.count[dim]) continue;
    lay_over(from, to, from_steps, to_steps, dim + 1, source + i * from_steps[dim],
             target + ahead / to.stride[dim] * to_steps[dim], size);
  }
}

// Sets all cells to one value.
template <class Box>
void set_all(const Box& box, const Steps& steps, std::size_t dim, char* target,
             const std::vector<char>& value) {
  if (dim == box.count.size()) {
    std::memcpy(target, value.data(), value.size());
    return;
  }
  for (std::int64_t i = 0; i < box.count[dim]; ++i)
    set_all(box, steps, dim + 1, target + i * steps[dim], value);
}

}  // namespace door

#endif
