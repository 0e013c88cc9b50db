// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "driver/native/context.hpp"
#include "pack/scratch_buffer.hpp"
#include "rearrange/rearranger.hpp"

namespace shoal {

// Shared by the paths that send cells between ranks.

/// Buffers of one call, on any path.
struct SendBuffers {
  ScratchBuffer tile;    ///< this rank's cells of a field that does not go as it is
  ScratchBuffer pieces;  ///< what this rank stores or fetches as an I/O rank

  /// The buffer `pieces`, for Rearranger; status: becomes Error(no_memory) where there is none.
  Rearranger::GetBuffer for_pieces(Status& status);
};

/// Does a rank read cells around its tile? Collective.
bool reads_halo(const Comm& comm, const Transfer& transfer);

/// The cells of a tile as a box, row-major, of the variable's type.
struct TileCells {
  Box box;
  std::byte* cells = nullptr;
  Status status;  ///< of the transfer, or no memory

  TileCells(const FieldJob& job, bool halo, SendBuffers& buffers);
  /// Copies the cells to the array.
  Status unpack(const FieldJob& job, Counters& counters) const;
};

}  // namespace shoal
