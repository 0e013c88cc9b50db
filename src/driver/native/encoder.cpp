// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/encoder.hpp"

#include <string>

namespace shoal {

Encoder::Encoder(const FieldJob& job)
    : shape(job.placement->chunk),
      fill(stored_absent_value(*job.variable, job.placement->swapped)),
      element(fill.size()),
      copy(find_conversion(job.stored(), job.stored())),
      variable(job.transfer->variable),
      placement(*job.placement),
      filters(job.variable->filters),
      type(job.variable->type),
      coder(make_coder(shape, placement.shard, filters, type, fill)) {}

void Encoder::drop_shard() {
  if (!placement.shard) return;
  chunk = {};
  stored = {};
  coder = make_coder(shape, placement.shard, filters, type, fill);
}

void Encoder::load(ObjectFiles& file, const StoredChunk& from, std::span<std::byte> cells, Seconds& time) {
  if (!from.address.is_placed()) {
    const auto size = static_cast<std::int64_t>(element);
    return fill_box(cells.data(), {size}, {static_cast<std::int64_t>(cells.size()) / size}, fill.data(),
                    element);
  }
  try {
    load_stored(file, from, cells, time);
  } catch (const Error& e) {
    throw e.in_file(file.path_of(from.address));
  }
}

void Encoder::load_stored(ObjectFiles& file, const StoredChunk& from, std::span<std::byte> cells,
                          Seconds& time) {
  // No filter makes so much of a chunk: memory is not asked for what a damaged index says.
  if (from.bytes > longest_shard(cells.size(), chunks_in_shard(placement)))
    throw Error(Code::format, "a chunk of {} bytes is damaged: it takes {} in the file", cells.size(),
                from.bytes);
  stored.resize(from.bytes);
  if (file.read(from.address, stored) < from.bytes) throw Error(Code::format, "the file ends within a chunk");
  const Timer timer(time);
  coder->decode({stored, from.left_out}, cells);
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

}  // namespace shoal
