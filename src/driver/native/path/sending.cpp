// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/path/sending.hpp"

#include "rearrange/tile_maps.hpp"

namespace shoal {

Rearranger::GetBuffer SendBuffers::for_pieces(Status& status) {
  return [&](std::size_t bytes) {
    std::byte* cells = nullptr;
    status.merge(caught([&] { cells = pieces.of(bytes); }));
    return cells;
  };
}

bool reads_halo(const Comm& comm, const Transfer& transfer) {
  const bool more = !transfer.mine.empty() && transfer.mine != own_cells(transfer);
  return comm.max(std::int64_t{more ? 1 : 0}) != 0;
}

TileCells::TileCells(const FieldJob& job, bool halo, SendBuffers& buffers)
    : box(tile_box(*job.transfer, halo)), status(job.transfer->refused.why) {
  const std::size_t bytes = bytes_of(box, size_of(job.variable->type));
  status.merge(caught([&] { cells = buffers.tile.of(bytes); }));
}

Status TileCells::unpack(const FieldJob& job, Counters& counters) const {
  if (box.empty()) return {};
  const Timer timer(counters.unpack);
  return unpack_tile(*job.transfer, *job.variable, box, cells);
}

}  // namespace shoal
