// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "driver/native/context.hpp"
#include "pack/scratch_buffer.hpp"
#include "rearrange/rearranger.hpp"

namespace shoal {

// What the paths have in common that send cells between ranks.

/// Memory for the time of one call, whichever path it goes.
struct SendBuffers {
  ScratchBuffer tile;    ///< this rank's cells of a field that does not go as it is
  ScratchBuffer pieces;  ///< what this rank stores or fetches as an I/O rank

  /// Where there is no memory, status says so.
  Rearranger::GetBuffer for_pieces(Status& status);
};

/// Does a rank read cells around its tile? Collective.
bool reads_halo(const Comm& comm, const Transfer& transfer);

/// Cells of a tile that come as those of a box, row-major as the variable's type.
struct TileCells {
  Box box;
  std::byte* cells = nullptr;
  Status status;  ///< of the transfer, or no memory

  TileCells(const FieldJob& job, bool halo, SendBuffers& buffers);
  /// To the array.
  Status unpack(const FieldJob& job, Counters& counters) const;
};

}  // namespace shoal
