// SPDX-License-Identifier: BSD-3-Clause
// Fields cut by maps over several stages: cells are sent to I/O ranks, each of which stores (fetches) a box
// of the field itself. On one node they are packed to their places in the stage instead, by everybody.
#include <algorithm>

#include "driver/map_cells.hpp"
#include "driver/native/native_driver.hpp"

namespace shoal {

namespace {

/// A part of a box that lies in one chunk.
struct Cut {
  Piece piece;
  std::byte* in_box;  ///< its first cell there
  Dims box_strides;
  std::byte* cells;  ///< the part alone, row-major
  Dims strides;
  bool whole;  ///< the part is the box, and its cells are those
  std::uint64_t address;
};

}  // namespace

Rearranger* NativeDriver::rearranger_of(const Transfer& transfer) const {
  const auto found = rearrangers_.find(transfer.decomposition.get());
  return found == rearrangers_.end() ? nullptr : found->second.get();
}

// A box may be cut by borders of chunks: parts that are not the whole box go through memory of their own.
// move(extents of a part, its cells) gives or takes them.
template <class Move>
void NativeDriver::move_box(const FieldJob& job, const Box& box, std::byte* cells, Move&& move) {
  const Dims& chunk = job.placement->chunk;
  const std::size_t size = size_of(job.variable->type);
  const Box chunks = chunks_of(job.transfer->region, chunk);
  for_each_piece({box}, chunk, box.cells(), [&](const Piece& piece) {
    const std::uint64_t address =
        job.addresses_listed
            ? job.addresses[static_cast<std::size_t>(position_in(piece.chunk_index, chunks))]
            : job.placement->begin + job.placement->stride * static_cast<std::uint64_t>(piece.chunk_index[0]);
    const bool whole = piece.cells == box;
    std::byte* part = whole ? cells : chunk_cells_.of(static_cast<std::size_t>(piece.cells.cells()) * size);
    const Dims in_box = byte_strides(box.count, size);
    std::byte* place = cells;
    for (int d = 0; d < box.rank(); ++d)
      place += (piece.cells.first[d] - box.first[d]) * in_box[d];
    const Cut cut{piece, place, in_box, part, byte_strides(piece.cells.count, size), whole, address};
    move(cut);
  });
}

Status NativeDriver::store_boxes(const FieldJob& job) {
  const Transfer& transfer = *job.transfer;
  Status status = transfer.status;
  writer_->settle_overlap(job, status);
  const Bytes fill = stored_fill(*job.variable, *job.placement);
  const ConvertRun copy = find_conversion(job.stored(), job.stored());
  const auto room = [&](std::size_t bytes) {
    std::byte* cells = nullptr;
    status.merge(caught([&] { cells = box_cells_.of(bytes); }));
    return cells;
  };
  const auto store_box = [&](const Box& box, std::byte* cells) {
    status.merge(caught([&] {
      move_box(job, box, cells, [&](const Cut& cut) {
        if (!cut.whole)
          copy_box(cut.in_box, cut.box_strides, cut.cells, cut.strides, cut.piece.cells.count, copy, nullptr);
        ExtentMerger merger([&](const Extent& extent) {
          file_.write(extent.in_file, {cut.cells + extent.in_stage, static_cast<std::size_t>(extent.bytes)});
        });
        add_extents(cut.piece, job.placement->chunk, fill.size(), cut.address, 0, merger);
        merger.flush();
      });
    }));
  };
  const Seconds begin = now();
  const Seconds stored = counters_.store;
  Misfits misfits;
  status.merge(caught([&] {
    misfits = rearranger_of(transfer)->write(transfer, job.stored(), fill.data(),
                                             job.addresses_listed ? job.placement->chunk : Dims(),
                                             {room, {}, store_box});
  }));
  counters_.pack += now() - begin - (counters_.store - stored);
  if (misfits.count > 0) status.merge(mapped_misfit_status(transfer, *job.variable, misfits, true));
  return status;
}

Status NativeDriver::fetch_boxes(const FieldJob& job) {
  const Transfer& transfer = *job.transfer;
  Status status = transfer.status;
  const Bytes fill = stored_fill(*job.variable, *job.placement);
  const auto size = static_cast<std::int64_t>(fill.size());
  const ConvertRun copy = find_conversion(job.stored(), job.stored());
  const auto room = [&](std::size_t bytes) {
    std::byte* cells = nullptr;
    status.merge(caught([&] { cells = box_cells_.of(bytes); }));
    return cells;
  };
  const auto fetch_box = [&](const Box& box, std::byte* cells) {
    status.merge(caught([&] {
      move_box(job, box, cells, [&](const Cut& cut) {
        ExtentMerger merger([&](const Extent& extent) {
          std::int64_t got = 0;
          if (cut.address != k_unplaced)
            got = static_cast<std::int64_t>(file_.read(
                extent.in_file, {cut.cells + extent.in_stage, static_cast<std::size_t>(extent.bytes)}));
          // Behind the end of the file: records that others only announced.
          const std::int64_t whole = got / size * size;
          if (got < extent.bytes)
            fill_box(cut.cells + extent.in_stage + whole, {size}, {(extent.bytes - whole) / size},
                     fill.data(), fill.size());
        });
        add_extents(cut.piece, job.placement->chunk, fill.size(), cut.address == k_unplaced ? 0 : cut.address,
                    0, merger);
        merger.flush();
        if (!cut.whole)
          copy_box(cut.cells, cut.strides, cut.in_box, cut.box_strides, cut.piece.cells.count, copy, nullptr);
      });
    }));
  };
  const Seconds begin = now();
  const Seconds fetched = counters_.read;
  Misfits misfits;
  status.merge(caught([&] {
    misfits = rearranger_of(transfer)->read(
        transfer, job.stored(), job.addresses_listed ? job.placement->chunk : Dims(), {room, fetch_box, {}});
  }));
  counters_.unpack += now() - begin - (counters_.read - fetched);
  if (misfits.count > 0) status.merge(mapped_misfit_status(transfer, *job.variable, misfits, false));
  return status;
}

}  // namespace shoal
