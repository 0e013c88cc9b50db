// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

#include "base/box.hpp"
#include "base/pack_fields.hpp"
#include "storage/location.hpp"

namespace shoal {

/// Where the bytes of a variable lie. The variable, in all its dimensions (record dimension first), is cut
/// into a grid of chunks that starts at index 0; within a chunk bytes are row-major over the whole chunk
/// shape, also where the chunk sticks out of the variable. A contiguous variable is one chunk; a classic
/// record variable is one chunk a record.
struct Placement {
  enum class Kind : int {
    regular,  ///< chunk i (row-major number in the grid) lies at begin + i * stride: every rank knows
    listed,   ///< addresses come from the catalog
    encoded,  ///< chunks are of any size, went through filters, and lie where the catalog says
    library,  ///< compact, external, unknown filters...: only the catalog's library can read it
  };
  Kind kind = Kind::regular;
  bool swapped = false;      ///< byte order in the file is not this machine's
  bool late = false;         ///< chunks get their space in the file when they are first written (HDF5)
  Dims chunk;                ///< shape of a chunk; in an unlimited dimension the number of records it holds
  std::uint64_t begin = 0;   ///< regular only; k_unplaced: no space allocated yet, ask the catalog to
  std::uint64_t stride = 0;  ///< regular only

  template <class Writer>
  void pack(Writer& out) const {
    put_all(out, kind, swapped, late, chunk, begin, stride);
  }
  template <class Reader>
  void unpack(Reader& in) {
    get_all(in, kind, swapped, late, chunk, begin, stride);
  }
};

/// The location of chunk i of a regular placement, whose begin is not k_unplaced.
inline Location location_of(const Placement& where, std::int64_t i) {
  return {0, where.begin + static_cast<std::uint64_t>(i) * where.stride};
}

/// The chunks that a region touches, as a box in the chunk grid.
Box chunks_of(const Box& region, const Dims& chunk);
/// The cells of one chunk.
Box cells_of_chunk(const Dims& chunk_index, const Dims& chunk);
/// Call visit for the index of each chunk in the box of chunks, row-major order.
void for_each_index(const Box& chunks, const std::function<void(const Dims&)>& visit);

}  // namespace shoal
