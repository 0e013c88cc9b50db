// SPDX-License-Identifier: BSD-3-Clause
#include "base/box.hpp"

#include <fmt/core.h>

#include "base/language.hpp"
#include "base/text.hpp"

namespace shoal {

void Dims::copy_more(const Dims& other) {
  std::copy(other.v_.begin() + k_few, other.v_.begin() + n_, v_.begin() + k_few);
}

void Dims::fill_more(std::int64_t value) {
  std::fill(v_.begin() + k_few, v_.begin() + n_, value);
}

std::int64_t volume(const Dims& shape) {
  std::int64_t cells = 1;
  for (const auto n : shape)
    cells *= n;
  return cells;
}

Dims joined(const Dims& front, const Dims& back) {
  Dims out = front;
  for (const auto n : back)
    out.push_back(n);
  return out;
}

Dims tail(const Dims& dims, int n) {
  return Dims(std::span(dims.end() - n, dims.end()));
}

Dims row_major_strides(const Dims& shape) {
  Dims strides(shape.size());
  std::int64_t stride = 1;
  for (int d = shape.size() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

Dims byte_strides(const Dims& shape, std::size_t element_size) {
  Dims strides = row_major_strides(shape);
  for (auto& stride : strides)
    stride *= static_cast<std::int64_t>(element_size);
  return strides;
}

Dims unravel(std::int64_t position, const Dims& shape) {
  Dims index(shape.size());
  for (int d = shape.size() - 1; d >= 0; --d) {
    index[d] = position % shape[d];
    position /= shape[d];
  }
  return index;
}

std::string text_of(const Dims& shape) {
  if (shape.empty()) return "scalar";
  std::vector<std::string> lengths;
  for (const auto n : shape)
    lengths.push_back(std::to_string(n));
  return joined(as_listed(std::move(lengths)), "x");
}

bool Box::contains(const Box& other) const {
  for (int d = 0; d < rank(); ++d)
    if (other.first[d] < first[d] || other.end(d) > end(d)) return false;
  return true;
}

Box intersection(const Box& a, const Box& b) {
  Box out(Dims(a.rank()), Dims(a.rank()));
  for (int d = 0; d < a.rank(); ++d) {
    out.first[d] = std::max(a.first[d], b.first[d]);
    out.count[d] = std::min(a.end(d), b.end(d)) - out.first[d];
    if (out.count[d] <= 0) return {Dims(a.rank()), Dims(a.rank())};
  }
  return out;
}

Box bounding(const Box& a, const Box& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Box out = a;
  for (int d = 0; d < a.rank(); ++d) {
    out.first[d] = std::min(a.first[d], b.first[d]);
    out.count[d] = std::max(a.end(d), b.end(d)) - out.first[d];
  }
  return out;
}

std::int64_t position_in(const Dims& index, const Box& within) {
  std::int64_t position = 0;
  for (int d = 0; d < within.rank(); ++d)
    position = position * within.count[d] + (index[d] - within.first[d]);
  return position;
}

std::string text_of(const Box& box) {
  const bool inclusive = language() == Language::fortran;
  std::vector<std::string> ranges;
  for (int d = 0; d < box.rank(); ++d)
    ranges.push_back(fmt::format("{}:{}", as_index(box.first[d]), box.end(d)));
  const std::string all = joined(as_listed(std::move(ranges)), ", ");
  return inclusive ? fmt::format("({})", all) : fmt::format("[{})", all);
}

}  // namespace shoal
