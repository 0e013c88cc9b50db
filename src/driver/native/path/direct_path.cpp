// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/path/direct_path.hpp"

#include <algorithm>

#include "decomp/node_share.hpp"
#include "driver/native/path/page_runs.hpp"
#include "driver/native/shapes.hpp"

namespace shoal {

namespace {

/// The runs of a piece whose cells lie row-major at `at` of some memory.
template <class Visit>
void for_each_run(const FieldJob& job, const Piece& piece, std::int64_t at, Visit&& visit) {
  ExtentMerger merger(std::forward<Visit>(visit));
  add_extents(piece, job.placement->chunk, size_of(job.variable->type),
              location_of(*job.placement, piece.chunk_index[0]), at, merger);
  merger.flush();
}

/// The caller's own memory, where it has the bytes of the file; else nullptr.
std::byte* cells_as_stored(const FieldJob& job) {
  const bool swaps = job.placement->swapped && size_of(job.variable->type) > 1;
  if (swaps || !(job.transfer->array.extents() == job.transfer->mine.count)) return nullptr;
  return job.transfer->array.host_cells_as(job.variable->type);
}

}  // namespace

DirectPath::DirectPath(ObjectFiles& file, Counters& counters, const RankGroups& groups, std::int64_t long_run)
    : file_(file), counters_(counters), groups_(groups), long_run_(long_run) {}

bool DirectPath::suits(const FieldJob& job) const {
  return !job.addresses_listed && are_long_runs(*job.share, job.transfer->decomposition->global(),
                                                job.placement->chunk, size_of(job.variable->type), long_run_);
}

bool DirectPath::suits_writing(const FieldJob& job) const {
  const auto before = writers_.find(job.transfer->variable);
  return suits(job) && (before == writers_.end() || before->second == job.share->number);
}

Status DirectPath::write(const FieldJob& job) {
  const Transfer& transfer = *job.transfer;
  writers_[transfer.variable] = job.share->number;
  const Bytes fill = stored_fill(*job.variable, job.placement->swapped);
  Status status = transfer.refused.why;
  status.merge(caught([&] {
    const auto ranks = static_cast<std::size_t>(groups_.node().size());
    for (auto i = static_cast<std::size_t>(groups_.node().rank());
         i < job.share->unowned.size() && !job.keeps; i += ranks)
      for (const auto& box : within_region({job.share->unowned[i]}, transfer.region))
        store_fill(job, box, fill);
    if (transfer.refused) return store_fill(job, own_cells(transfer), fill);
    if (transfer.mine.empty()) return;

    const std::byte* const cells = cells_as_stored(job);
    if (cells != nullptr && !is_masked(transfer) && !transfer.rounding)
      store_array(job, cells);
    else
      status.merge(store_packed(job, fill));
  }));
  return status;
}

void DirectPath::store_array(const FieldJob& job, const std::byte* cells) {
  const Transfer& transfer = *job.transfer;
  std::int64_t in_array = 0;
  for_each_piece({transfer.mine}, job.placement->chunk, transfer.mine.cells(), [&](const Piece& piece) {
    for_each_run(job, piece, in_array, [&](const Extent& run) {
      file_.write(run.in_file, {cells + run.in_memory, static_cast<std::size_t>(run.bytes)});
    });
    in_array += piece.cells.cells() * size_of(job.variable->type);
  });
}

Status DirectPath::store_packed(const FieldJob& job, const Bytes& fill) {
  const Transfer& transfer = *job.transfer;
  const ConvertRun convert = to_stored(transfer, job.stored());
  Status status;
  store_pieces(job, transfer.mine, [&](const Piece& piece, std::byte* cells) {
    const Timer timer(counters_.pack);
    const ConversionErrors errors = pack_cells(
        transfer, piece.cells, cells, byte_strides(piece.cells.count, fill.size()), convert, fill.data());
    if (errors.count > 0) status.merge(conversion_status(transfer, *job.variable, errors, piece.cells, true));
  });
  return status;
}

void DirectPath::store_fill(const FieldJob& job, const Box& box, const Bytes& fill) {
  store_pieces(job, box, [&](const Piece& piece, std::byte* cells) {
    fill_box(cells, {static_cast<std::int64_t>(fill.size())}, {piece.cells.cells()}, fill.data(),
             fill.size());
  });
}

void DirectPath::store_pieces(const FieldJob& job, const Box& box, const FillPiece& fill_piece) {
  const auto size = static_cast<std::int64_t>(size_of(job.variable->type));
  const std::int64_t in_run = run_of(box, job.placement->chunk);  // a chunk holds the whole here
  std::int64_t stored = 0;                                        // cells
  PageRuns runs(file_);
  for_each_piece({box}, job.placement->chunk, k_direct_piece / size, [&](const Piece& piece) {
    const std::int64_t bytes = piece.cells.cells() * size;
    buffer_.resize(static_cast<std::size_t>(PageRuns::k_page + bytes));
    std::byte* cells = buffer_.data() + PageRuns::k_page;
    fill_piece(piece, cells);
    stored += piece.cells.cells();
    for_each_run(job, piece, 0, [&](const Extent& run) {
      const bool last = run.in_memory + run.bytes == bytes;
      runs.write(cells, run, last && stored % in_run != 0);
    });
  });
  runs.finish();
}

Status DirectPath::read(const FieldJob& job) {
  const Transfer& transfer = *job.transfer;
  ConversionErrors conversion_errors;
  const Status status = caught([&] {
    if (transfer.mine.empty()) return;
    const Bytes fill = stored_absent_value(*job.variable, job.placement->swapped);
    const auto size = static_cast<std::int64_t>(fill.size());
    std::byte* const own = leaves_masked(transfer) ? nullptr : cells_as_stored(job);
    const bool plain = own != nullptr;
    const ConvertRun convert = find_conversion(job.stored(), in_memory(transfer));
    std::int64_t in_array = 0;
    for_each_piece(
        {transfer.mine}, job.placement->chunk, plain ? transfer.mine.cells() : k_direct_piece / size,
        [&](const Piece& piece) {
          const std::int64_t bytes = piece.cells.cells() * size;
          if (!plain) buffer_.resize(static_cast<std::size_t>(bytes));
          std::byte* cells = plain ? own : buffer_.data();
          for_each_run(job, piece, plain ? in_array : 0, [&](const Extent& run) {
            const auto got = static_cast<std::int64_t>(
                file_.read(run.in_file, {cells + run.in_memory, static_cast<std::size_t>(run.bytes)}));
            // Behind the end of the file: records that others only announced.
            const std::int64_t whole = got / size * size;
            if (got < run.bytes)
              fill_box(cells + run.in_memory + whole, {size}, {(run.bytes - whole) / size}, fill.data(),
                       fill.size());
          });
          in_array += bytes;
          if (plain) return;
          const Timer timer(counters_.unpack);
          conversion_errors.merge(unpack_cells(transfer, cells, byte_strides(piece.cells.count, fill.size()),
                                               piece.cells, convert),
                                  0);
        });
  });
  return status.ok() && conversion_errors.count > 0
             ? conversion_status(transfer, *job.variable, conversion_errors, transfer.mine, false)
             : status;
}

}  // namespace shoal
