// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/boxes/box_shape.hpp"

#include <algorithm>

namespace shoal {

bool BoxShape::is_whole() const {
  for (int d = 0; d < rank(); ++d)
    if (step[d] != 1 && count[d] > 1) return false;
  return true;
}

Box BoxShape::around() const {
  if (cells() == 0) return {Dims(rank()), Dims(rank())};
  Box box(first, count);
  for (int d = 0; d < rank(); ++d)
    box.count[d] = (count[d] - 1) * step[d] + 1;
  return box;
}

BoxShape BoxShape::from(int d) const {
  const int n = rank() - d;
  return {tail(first, n), tail(count, n), tail(step, n)};
}

BoxShape BoxShape::before(int d) const {
  const auto front = [&](const Dims& dims) { return Dims(std::span(dims.begin(), dims.begin() + d)); };
  return {front(first), front(count), front(step)};
}

void pack(ByteWriter& out, const Dims& dims) {
  out.put(static_cast<std::int8_t>(dims.size()));
  for (const auto n : dims)
    out.put(n);
}

Dims unpack_dims(ByteReader& in) {
  std::int8_t rank = 0;
  in.get(rank);
  Dims dims(rank);
  for (auto& n : dims)
    in.get(n);
  return dims;
}

void pack(ByteWriter& out, const BoxShape& shape) {
  pack(out, shape.first);
  pack(out, shape.count);
  pack(out, shape.step);
}

BoxShape unpack_shape(ByteReader& in) {
  BoxShape shape;
  shape.first = unpack_dims(in);
  shape.count = unpack_dims(in);
  shape.step = unpack_dims(in);
  return shape;
}

void add(Hash& hash, const BoxShape& shape) {
  hash.add(Box(shape.first, shape.count));
  for (int d = 0; d < shape.rank(); ++d)
    if (shape.count[d] > 1) hash.add(static_cast<std::uint64_t>(shape.step[d]));
}

}  // namespace shoal
