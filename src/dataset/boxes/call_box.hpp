// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/bytes.hpp"
#include "base/hash.hpp"
#include "pack/strided_box.hpp"

namespace shoal {

/// A box of a call as ranks tell each other of it, without its array.
struct CallBox {
  int variable = -1;
  // Records, of a variable that has them (of_records); else one, at 0.
  bool of_records = false;
  std::int64_t record = 0, records = 1, record_step = 1;
  StridedBox cells;  ///< in the dimensions behind the record dimension
};

/// The same with records that count from `base`.
inline CallBox counted_from(CallBox box, std::int64_t base) {
  if (box.of_records) box.record -= base;
  return box;
}

void pack(ByteWriter& out, const Dims& dims);
void pack(ByteWriter& out, const StridedBox& box);
Dims unpack_dims(ByteReader& in);
StridedBox unpack_box(ByteReader& in);
void add(Hash& hash, const StridedBox& box);

}  // namespace shoal
