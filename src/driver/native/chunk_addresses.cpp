// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/chunk_addresses.hpp"

#include <algorithm>

#include "driver/protocol/root_values.hpp"
#include "format/format_traits.hpp"

namespace shoal {

namespace {

constexpr std::int64_t k_fill_buffer = 1024 * 1024;  // bytes

}  // namespace

std::vector<Location> ChunkAddresses::allocate(const FieldJob& job) {
  const int v = job.transfer->variable;
  const Schema& schema = context_.header.schema();
  const Box& region = job.transfer->region;
  const Box chunks = chunks_of(region, job.placement->chunk);
  std::vector<bool> fresh;
  // No cells are announced: the file gets to know of them at commit, when they are down.
  auto addresses = context_.header.catalog().place(v, chunks, no_cells(region.rank()), fresh);
  // Cells that may still come into being count as part of a chunk.
  Dims written_records = schema.shape(v);
  for (int d = 0; d < written_records.size(); ++d)
    if (schema.dim(job.variable->dims[static_cast<std::size_t>(d)]).unlimited)
      written_records[d] = std::max(written_records[d], chunks.end(d) * job.placement->chunk[d]);
  const Box whole = Box::whole(written_records);
  std::size_t i = 0;
  const Status filled = caught([&] {
    for_each_index(chunks, [&](const Dims& index) {
      const Box cells = cells_of_chunk(index, job.placement->chunk);
      const bool all = region.contains(intersection(cells, whole)) && !job.keeps;
      // Done before this rank arrives in the stage or sends the addresses, so nobody's cells can be there.
      if (fresh[i] && !all && !job.variable->no_fill) fill_cells(v, cells, {addresses[i]});
      ++i;
    });
  });
  if (filled.ok()) return addresses;
  context_.header.catalog().unplace(v, chunks, fresh);
  throw Error(filled);
}

std::vector<Location> ChunkAddresses::place(const FieldJob& job, bool by_message) {
  std::vector<Location> addresses;
  if (!job.addresses_listed) return addresses;
  if (by_message) {
    addresses = value_of_root(context_.comm, [&] { return allocate(job); });
  } else if (context_.header.on_owner()) {
    addresses = allocate(job);
  }
  return addresses;
}

void ChunkAddresses::fill_cells(int v, const Box& cells, const Numbered<Location>& addresses) {
  const Placement& where = context_.header.placement(v);
  const Bytes fill = stored_fill(context_.header.variable(v), where.swapped);
  const auto size = static_cast<std::int64_t>(fill.size());
  Bytes buffer(static_cast<std::size_t>(std::min(cells.cells() * size, k_fill_buffer / size * size)));
  fill_box(buffer.data(), {size}, {static_cast<std::int64_t>(buffer.size()) / size}, fill.data(),
           fill.size());
  ExtentMerger merger([&](const Extent& extent) {
    const auto most = static_cast<std::int64_t>(buffer.size());
    for (std::int64_t at = 0; at < extent.bytes; at += most)
      context_.file.write(extent.in_file + at,
                          {buffer.data(), static_cast<std::size_t>(std::min(most, extent.bytes - at))});
  });
  const Box chunks = chunks_of(cells, where.chunk);
  std::int64_t in_memory = 0;  // only adjacency counts here
  for_each_piece({cells}, where.chunk, cells.cells(), [&](const Piece& piece) {
    const Location address = addresses.empty() ? location_of(where, piece.chunk_index[0])
                                               : addresses[position_in(piece.chunk_index, chunks)];
    add_extents(piece, where.chunk, fill.size(), address, in_memory, merger);
    in_memory += piece.cells.cells() * size;
  });
  merger.flush();
}

bool ChunkAddresses::asks_owner(const Transfer& transfer) const {
  const Placement& where = context_.header.placement(transfer.variable);
  if (where.kind == Placement::Kind::library) return false;
  if (where.kind == Placement::Kind::regular && where.begin != k_unplaced) return false;
  const auto known = found_.find(transfer.variable);
  return known == found_.end() || (known->second.addresses.empty() && known->second.encoded.empty()) ||
         !known->second.chunks.contains(chunks_of(transfer.region, where.chunk));
}

// All there is of the variable from the first chunk wanted on, as far as that is not too many.
Box ChunkAddresses::ahead_of(const FieldJob& job, const Box& wanted) const {
  constexpr std::int64_t k_batch = 16 * 1024;
  if (context_.writable || wanted.rank() == 0 || wanted.empty()) return wanted;
  const Dims shape = context_.header.schema().shape(job.transfer->variable);
  Box ahead = chunks_of(Box::whole(shape), job.placement->chunk);
  const std::int64_t row = ahead.cells() / ahead.count[0];
  ahead.first[0] = wanted.first[0];
  ahead.count[0] = std::min(ahead.count[0] - wanted.first[0], std::max(wanted.count[0], k_batch / row));
  return ahead.contains(wanted) ? ahead : wanted;
}

std::vector<Location> ChunkAddresses::find(const FieldJob& job) {
  const int v = job.transfer->variable;
  const Box wanted = chunks_of(job.transfer->region, job.placement->chunk);
  Found& known = found_[v];
  if (known.addresses.empty() || !known.chunks.contains(wanted)) {
    known.chunks = ahead_of(job, wanted);
    known.addresses =
        value_of_root(context_.comm, [&] { return context_.header.catalog().find(v, known.chunks); });
  }
  std::vector<Location> addresses;
  for_each_index(wanted, [&](const Dims& index) {
    addresses.push_back(known.addresses[position_in(index, known.chunks)]);
  });
  if (context_.writable) found_.erase(v);
  return addresses;
}

std::vector<StoredChunk> ChunkAddresses::encoded_chunks(int v, const Box& chunks) {
  return value_of_root(context_.comm, [&] { return context_.header.catalog().stored_chunks(v, chunks); });
}

// Of a file that is only read, nothing moves.
std::vector<StoredChunk> ChunkAddresses::find_encoded(const FieldJob& job) {
  const int v = job.transfer->variable;
  const Box wanted = chunks_of(job.transfer->region, job.placement->chunk);
  if (context_.writable) return encoded_chunks(v, wanted);
  Found& known = found_[v];
  if (known.encoded.empty() || !known.chunks.contains(wanted)) {
    known.chunks = ahead_of(job, wanted);
    known.encoded = encoded_chunks(v, known.chunks);
  }
  std::vector<StoredChunk> chunks;
  for_each_index(
      wanted, [&](const Dims& index) { chunks.push_back(known.encoded[position_in(index, known.chunks)]); });
  return chunks;
}

std::vector<Location> ChunkAddresses::take_space(const std::vector<SpaceRequest>& mine) {
  ByteWriter out;
  out.put(mine);
  const auto all = context_.comm.gather(out.take(), 0);
  std::vector<Bytes> parts;
  if (context_.header.on_owner()) {
    for (const Bytes& of_rank : all) {
      std::vector<Location> taken;
      for (const auto& request : ByteReader(of_rank).get<std::vector<SpaceRequest>>())
        taken.push_back(space_.take(request.object, request.bytes));
      ByteWriter answer;
      answer.put(taken);
      parts.push_back(answer.take());
    }
  }
  return ByteReader(context_.comm.scatter(parts, 0)).get<std::vector<Location>>();
}

void ChunkAddresses::share_space(const SharedSpace& of_stage) {
  space_ = of_stage;
  context_.header.share_space(space_);
}

void ChunkAddresses::keep_space() {
  const bool has_objects = traits_of(context_.header.schema().format).holds_objects();
  if (has_objects && context_.header.on_owner() && own_ends_.empty())
    own_ends_ = std::vector<ObjectEnds::Entry>(ObjectEnds::k_entries + 1);
  share_space({&own_end_, own_ends_.empty() ? ObjectEnds() : ObjectEnds(own_ends_.data())});
}

void ChunkAddresses::return_space() {
  space_ = {&own_end_, {}};
  context_.header.share_space({});
}

void ChunkAddresses::open_objects(const FieldJob& job) {
  if (!job.placement->objects.has_objects() || !context_.header.on_owner()) return;
  context_.header.catalog().open_objects(job.transfer->variable,
                                         chunks_of(job.transfer->region, job.placement->chunk));
}

void ChunkAddresses::close_objects() {
  if (context_.header.on_owner() && space_.objects.is_there()) space_.objects.clear();
}

}  // namespace shoal
