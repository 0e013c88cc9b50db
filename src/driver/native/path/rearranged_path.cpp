// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/path/rearranged_path.hpp"

#include <memory>

#include "pack/cells.hpp"
#include "pack/map_cells.hpp"
#include "rearrange/tile_maps.hpp"

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
  Location address;
};

}  // namespace

Status RearrangedPath::write(const FieldJob& job) {
  return job.transfer->decomposition->map() != nullptr ? write_boxes(job) : write_tiles(job);
}

Status RearrangedPath::read(const FieldJob& job) {
  return job.transfer->decomposition->map() != nullptr ? read_boxes(job) : read_tiles(job);
}

Status RearrangedPath::write_tiles(const FieldJob& job) {
  Status status = check_section(*job.transfer);
  if (!status.ok()) return status;
  Transfer packed;
  status = pack_tile(*job.transfer, *job.variable, rearrangers_.map_of(job.transfer->decomposition, false),
                     buffers_.tile, context_.counters.pack, packed);
  FieldJob as_boxes = job;
  as_boxes.transfer = &packed;
  status.merge(write_boxes(as_boxes));
  return status;
}

Status RearrangedPath::read_tiles(const FieldJob& job) {
  const Transfer& transfer = *job.transfer;
  const bool halo = reads_halo(context_.comm, transfer);
  Status status = check_section(transfer);
  if (!status.ok()) return status;
  const TileCells tile(job, halo, buffers_);
  Transfer packed = as_map(transfer, rearrangers_.map_of(transfer.decomposition, halo), tile.box, tile.cells,
                           job.variable->type);
  packed.refused.why = tile.status;
  FieldJob of_box = job;
  of_box.transfer = &packed;
  status = tile.status;
  status.merge(read_boxes(of_box));
  return status.ok() ? tile.unpack(job, context_.counters) : status;
}

// A box may be cut by borders of chunks: parts that are not the whole box go through memory of their own.
// move(extents of a part, its cells) gives or takes them.
template <class Move>
void RearrangedPath::move_box(const FieldJob& job, const Box& box, std::byte* cells, Move&& move) {
  const Dims& chunk = job.placement->chunk;
  const std::size_t size = size_of(job.variable->type);
  const Box chunks = chunks_of(job.transfer->region, chunk);
  for_each_piece({box}, chunk, box.cells(), [&](const Piece& piece) {
    const Location address = job.addresses_listed ? job.addresses[position_in(piece.chunk_index, chunks)]
                                                  : location_of(*job.placement, piece.chunk_index[0]);
    const bool whole = piece.cells == box;
    std::byte* part = whole ? cells : chunk_cells_.of(bytes_of(piece.cells, size));
    const Dims in_box = byte_strides(box.count, size);
    std::byte* place = cells;
    for (int d = 0; d < box.rank(); ++d)
      place += (piece.cells.first[d] - box.first[d]) * in_box[d];
    const Cut cut{piece, place, in_box, part, byte_strides(piece.cells.count, size), whole, address};
    move(cut);
  });
}

void RearrangedPath::store_box(const FieldJob& job, const Box& box, std::byte* cells) {
  const ConvertRun copy = find_conversion(job.stored(), job.stored());
  move_box(job, box, cells, [&](const Cut& cut) {
    if (!cut.whole)
      copy_box(cut.in_box, cut.box_strides, cut.cells, cut.strides, cut.piece.cells.count, copy, nullptr);
    ExtentMerger merger([&](const Extent& extent) {
      context_.file.write(extent.in_file,
                          {cut.cells + extent.in_memory, static_cast<std::size_t>(extent.bytes)});
    });
    add_extents(cut.piece, job.placement->chunk, size_of(job.variable->type), cut.address, 0, merger);
    merger.flush();
  });
}

void RearrangedPath::load_box(const FieldJob& job, const Box& box, std::byte* cells, const Bytes& fill) {
  const auto size = static_cast<std::int64_t>(fill.size());
  const ConvertRun copy = find_conversion(job.stored(), job.stored());
  move_box(job, box, cells, [&](const Cut& cut) {
    const bool there = cut.address.is_placed();
    ExtentMerger merger([&](const Extent& extent) {
      std::int64_t got = 0;
      if (there)
        got = static_cast<std::int64_t>(context_.file.read(
            extent.in_file, {cut.cells + extent.in_memory, static_cast<std::size_t>(extent.bytes)}));
      // Behind the end of the file: records that others only announced.
      const std::int64_t whole = got / size * size;
      if (got < extent.bytes)
        fill_box(cut.cells + extent.in_memory + whole, {size}, {(extent.bytes - whole) / size}, fill.data(),
                 fill.size());
    });
    add_extents(cut.piece, job.placement->chunk, fill.size(), there ? cut.address : Location{}, 0, merger);
    merger.flush();
    if (!cut.whole)
      copy_box(cut.cells, cut.strides, cut.in_box, cut.box_strides, cut.piece.cells.count, copy, nullptr);
  });
}

Rearranger::Handling RearrangedPath::handling_of(const FieldJob& job, Status& status) {
  Rearranger::Handling handling;
  handling.buffer = buffers_.for_pieces(status);
  const auto loaded = std::make_shared<bool>(true);  // the box that is stored next, where cells must stay
  handling.store = [&, loaded](const Box& box, std::byte* cells) {
    if (*loaded) status.merge(caught([&] { store_box(job, box, cells); }));
  };
  handling.load = [&, loaded, fill = stored_absent_value(*job.variable, job.placement->swapped)](
                      const Box& box, std::byte* cells) {
    const Status load = caught([&] { load_box(job, box, cells, fill); });
    *loaded = load.ok();
    status.merge(load);
  };
  return handling;
}

Status RearrangedPath::write_boxes(const FieldJob& as_cut) {
  NativeRearrangers::Row row;
  const FieldJob job = rearrangers_.as_flattened(as_cut, rearrangers_.is_flattened(as_cut), row);
  const Transfer& transfer = *job.transfer;
  Counters& counters = context_.counters;
  Status status = transfer.refused.why;
  staged_.complete_overlap(as_cut, status);
  const Bytes fill = stored_fill(*job.variable, job.placement->swapped);
  Rearranger::Handling handling = handling_of(job, status);
  if (!job.keeps) handling.load = {};
  const Seconds begin = now();
  const Seconds moved = counters.store + counters.read;
  ConversionErrors conversion_errors;
  status.merge(caught([&] {
    conversion_errors =
        rearrangers_.of(transfer)->write(transfer, job.stored(), fill.data(), part_rules_of(job), handling);
  }));
  counters.pack += now() - begin - (counters.store + counters.read - moved);
  rearrangers_.count_messages();
  if (conversion_errors.count > 0)
    status.merge(mapped_conversion_status(*as_cut.transfer, *job.variable, conversion_errors, true));
  return status;
}

Status RearrangedPath::read_boxes(const FieldJob& as_cut) {
  NativeRearrangers::Row row;
  const FieldJob job = rearrangers_.as_flattened(as_cut, rearrangers_.is_flattened(as_cut), row);
  Status status = job.transfer->refused.why;
  const Rearranger::Handling handling = handling_of(job, status);
  status.merge(read_boxes(job, *as_cut.transfer, job.stored(), handling));
  return status;
}

Status RearrangedPath::read_by_library(const FieldJob& job) {
  Status status = job.transfer->refused.why;
  Rearranger::Handling handling;
  handling.buffer = buffers_.for_pieces(status);
  handling.load = [&](const Box& box, std::byte* cells) {
    const Timer timer(context_.counters.read);
    status.merge(caught([&] {
      if (!box.empty()) context_.header.get_by_library(job.transfer->variable, box, cells);
    }));
  };
  const Element in_memory{job.variable->type, size_of(job.variable->type), false};
  status.merge(read_boxes(job, *job.transfer, in_memory, handling));
  return status;
}

Status RearrangedPath::read_boxes(const FieldJob& job, const Transfer& as_cut, const Element& stored,
                                  const Rearranger::Handling& handling) {
  const Transfer& transfer = *job.transfer;
  Counters& counters = context_.counters;
  Status status;
  const Seconds begin = now();
  const Seconds fetched = counters.read;
  ConversionErrors conversion_errors;
  status.merge(caught([&] {
    conversion_errors = rearrangers_.of(transfer)->read(transfer, stored, part_rules_of(job), handling);
  }));
  counters.unpack += now() - begin - (counters.read - fetched);
  rearrangers_.count_messages();
  if (conversion_errors.count > 0)
    status.merge(mapped_conversion_status(as_cut, *job.variable, conversion_errors, false));
  return status;
}

}  // namespace shoal
