// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/box.hpp"
#include "base/bytes.hpp"
#include "base/hash.hpp"

namespace shoal {

/// Cells of an array of any dimensions: along each, `count` of them from `first` on, `step` apart.
struct BoxShape {
  Dims first, count, step;

  int rank() const { return count.size(); }
  std::int64_t cells() const { return volume(count); }
  /// Are there no cells between those of the box?
  bool is_whole() const;
  /// The box from its first cell to its last one; no cells: an empty one.
  Box around() const;
  /// The dimensions from d on, or before d.
  BoxShape from(int d) const;
  BoxShape before(int d) const;
  friend bool operator==(const BoxShape&, const BoxShape&) = default;
};

/// A box of a call as ranks tell each other of it, without its array.
struct CallBox {
  int variable = -1;
  // Records, of a variable that has them; else one, at 0.
  std::int64_t record = 0, records = 1, record_step = 1;
  BoxShape cells;  ///< in the dimensions behind the record dimension
};

void pack(ByteWriter& out, const BoxShape& shape);
BoxShape unpack_shape(ByteReader& in);
void pack(ByteWriter& out, const Dims& dims);
Dims unpack_dims(ByteReader& in);

/// All but the record.
void add(Hash& hash, const BoxShape& shape);

}  // namespace shoal
