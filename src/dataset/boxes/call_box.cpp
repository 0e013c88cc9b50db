// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/boxes/call_box.hpp"

namespace shoal {

void pack(ByteWriter& out, const Dims& dims) {
  out.put(static_cast<std::int8_t>(dims.size()));
  for (const auto n : dims)
    out.put(n);
}

Dims unpack_dims(ByteReader& in) {
  Dims dims(in.get<std::int8_t>());
  for (auto& n : dims)
    in.get(n);
  return dims;
}

void pack(ByteWriter& out, const StridedBox& box) {
  pack(out, box.start);
  pack(out, box.count);
  pack(out, box.stride);
}

StridedBox unpack_box(ByteReader& in) {
  StridedBox box;
  box.start = unpack_dims(in);
  box.count = unpack_dims(in);
  box.stride = unpack_dims(in);
  return box;
}

void add(Hash& hash, const StridedBox& box) {
  hash.add(Box(box.start, box.count));
  for (int d = 0; d < box.rank(); ++d)
    if (box.skips(d)) hash.add(static_cast<std::uint64_t>(box.stride[d]));
}

}  // namespace shoal
