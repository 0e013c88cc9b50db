// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/field.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "driver/alignment.hpp"

namespace shoal {

std::uint64_t fingerprint_of(const FieldJob& job, std::uint64_t fingerprint_before) {
  Hash fingerprint;
  fingerprint.add(fingerprint_before);
  fingerprint.add(static_cast<std::uint64_t>(job.transfer->variable));
  fingerprint.add(job.share->number);
  fingerprint.add(job.transfer->region);
  fingerprint.add(std::uint64_t{job.keeps ? 1U : 0U});  // which decides what is stored
  return fingerprint.value();
}

namespace {

/// The first dimension is one of records, of which these are meant.
std::string of_records(std::int64_t first, std::int64_t count, const std::string& message) {
  const std::string numbers =
      count == 1 ? "record " + std::to_string(first)
                 : "records " + std::to_string(first) + " to " + std::to_string(first + count - 1);
  return numbers + ": " + message;
}

}  // namespace

Status located(const Status& failure, const FieldJob& job) {
  Status out = failure;
  if (failure.ok() || !failure.variable.empty()) return out;
  out.variable = job.variable->name;
  const Box& region = job.transfer->region;
  if (job.records && !region.empty())
    out.message = of_records(region.first[0], region.count[0], failure.message);
  return out;
}

Dims alignment_of(const FieldJob& job) {
  return alignment_of(*job.placement, job.records, size_of(job.variable->type), job.alignment_bytes);
}

Encoder::Encoder(const FieldJob& job)
    : coder(job.variable->filters, size_of(job.variable->type)),
      shape(job.placement->chunk),
      fill(stored_fill(*job.variable, job.placement->swapped)),
      chunk(static_cast<std::size_t>(volume(job.placement->chunk)) * fill.size()),
      element(fill.size()),
      copy(find_conversion(job.stored(), job.stored())) {}

void Encoder::load(NativeFile& file, const StoredChunk& from, std::span<std::byte> cells, Seconds& time) {
  if (from.address == k_unplaced) {
    const auto size = static_cast<std::int64_t>(element);
    return fill_box(cells.data(), {size}, {static_cast<std::int64_t>(cells.size()) / size}, fill.data(),
                    element);
  }
  // No filter makes so much of a chunk: memory is not asked for what a damaged index says.
  constexpr std::uint64_t k_head = 4096;
  if (from.bytes > 2 * cells.size() + k_head)
    throw Error(Code::format, "a chunk of " + std::to_string(cells.size()) + " bytes is damaged: it takes " +
                                  std::to_string(from.bytes) + " in the file");
  stored.resize(from.bytes);
  if (file.read(from.address, stored) < from.bytes) throw Error(Code::format, "the file ends within a chunk");
  const Timer timer(time);
  coder.decode({stored, from.left_out}, cells);
}

std::int64_t Encoder::place_of(const Piece& piece, const Dims& cell) const {
  return position_in(cell, cells_of_chunk(piece.chunk_index, shape)) * static_cast<std::int64_t>(element);
}

void Encoder::put_part(const Piece& piece, const std::byte* cells, const Box& part) {
  const auto from = position_in(part.first, piece.cells) * static_cast<std::int64_t>(element);
  copy_box(cells + from, byte_strides(piece.cells.count, element), chunk.data() + place_of(piece, part.first),
           byte_strides(shape, element), part.count, copy, nullptr);
}

void Encoder::get_part(const Bytes& whole, const Piece& piece, std::byte* cells) const {
  copy_box(whole.data() + place_of(piece, piece.cells.first), byte_strides(shape, element), cells,
           byte_strides(piece.cells.count, element), piece.cells.count, copy, nullptr);
}

void SlotGeneration::share_evenly(std::int64_t bytes, int parts) {
  constexpr std::int64_t k_least = 128 * 1024;
  constexpr std::int64_t k_page = 4096;
  const std::int64_t most = Stage::k_most_shares;
  const std::int64_t even = bytes / std::min<std::int64_t>(parts, most) / k_page * k_page + k_page;
  share_bytes = std::max(k_least, even);
}

void SlotGeneration::for_each_extent(std::uint32_t share, const std::uint64_t* addresses_of_generation,
                                     const std::function<void(const Extent&)>& visit) const {
  const std::int64_t low = share * share_bytes;
  const std::int64_t high = std::min(used, low + share_bytes);
  ExtentMerger merger([&](const Extent& extent) {
    const std::int64_t from = std::max(low, extent.in_stage);
    const std::int64_t to = std::min(high, extent.in_stage + extent.bytes);
    if (from < to)
      visit({extent.in_file == k_unplaced
                 ? k_unplaced
                 : extent.in_file + static_cast<std::uint64_t>(from - extent.in_stage),
             from, to - from});
  });
  for (const auto& staged : pieces) {
    if (staged.in_stage >= high || staged.in_stage + staged.bytes() <= low) continue;
    const std::uint64_t address =
        staged.address_slot < 0 ? staged.address : addresses_of_generation[staged.address_slot];
    if (address == k_unplaced) {
      merger.flush();
      merger.add({k_unplaced, staged.in_stage, staged.bytes()});
      merger.flush();
    } else {
      add_extents(staged.piece, staged.chunk, staged.element_size, address, staged.in_stage, merger);
    }
  }
  merger.flush();
}

Error SlotGeneration::located(const Error& error, std::int64_t in_stage) const {
  const auto staged = std::find_if(pieces.begin(), pieces.end(), [&](const StagedPiece& p) {
    return in_stage >= p.in_stage && in_stage < p.in_stage + p.bytes();
  });
  const auto field =
      std::find_if(fields.rbegin(), fields.rend(), [&](const Field& f) { return f.in_stage <= in_stage; });
  if (staged == pieces.end() || field == fields.rend()) return error;
  Status status = error.status();
  if (field->records)
    status.message = of_records(staged->piece.cells.first[0], staged->piece.cells.count[0], status.message);
  return Error(status).of_variable(field->variable);
}

}  // namespace shoal
