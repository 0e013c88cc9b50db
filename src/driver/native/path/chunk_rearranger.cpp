// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/path/chunk_rearranger.hpp"

#include <algorithm>

#include "driver/plans/rearrange_bytes.hpp"
#include "pack/cells.hpp"
#include "pack/map_cells.hpp"
#include "pack/transfer.hpp"
#include "rearrange/tile_maps.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_most_chunk_plans = 16;             // each keeps a map and lists of its cells
constexpr std::uint64_t k_after = std::uint64_t{1} << 62;  // what the stage stored came before

/// As many of the ranks, as far apart as can be.
std::vector<int> some_of(const std::vector<int>& ranks, std::int64_t parts) {
  const auto all = static_cast<std::int64_t>(ranks.size());
  parts = std::clamp<std::int64_t>(parts, 1, all);
  std::vector<int> some;
  for (std::int64_t i = 0; i < parts; ++i)
    some.push_back(ranks[static_cast<std::size_t>(i * all / parts)]);
  return some;
}

}  // namespace

Status ChunkRearranger::read(const FieldJob& job, DecodedChunks* decoded) {
  return is_mapped(*job.transfer) ? read_cells(job, false, decoded) : read_tiles(job, decoded);
}

// All ranks compress, unless it was said who stores.
const std::vector<int>& ChunkRearranger::coders() {
  if (coders_.empty()) {
    if (context_.strategies.one_node_stores() || sets_io_ranks(context_.options.rearranging) ||
        context_.options.servers.count > 0)
      return context_.strategies.io_ranks();
    for (int r = 0; r < context_.comm.size(); ++r)
      coders_.push_back(r);
  }
  return coders_;
}

ChunkRearranger::ChunkPlan& ChunkRearranger::chunk_plan_of(const FieldJob& job, const ChunkOrder& order,
                                                           bool more) {
  const Transfer& transfer = *job.transfer;
  const auto ranks = some_of(coders(), std::max(order.outer_dims(), order.chunks()));
  std::vector<std::int64_t> key = order.key();
  key.push_back(more ? 1 : 0);
  key.push_back(static_cast<std::int64_t>(ranks.size()));
  key.push_back(static_cast<std::int64_t>(size_of(job.variable->type)));
  const auto known = std::find_if(plans_.begin(), plans_.end(), [&](const ChunkPlan& chunk_plan) {
    return chunk_plan.decomposition == transfer.decomposition && chunk_plan.key == key;
  });
  if (known != plans_.end()) return *known;
  std::vector<std::int64_t> places;
  const Status problem = caught([&] {
    places = is_mapped(transfer) ? order.places_of(*transfer.decomposition)
                                 : order.places_of(tile_box(transfer, more));
  });
  ChunkPlan chunk_plan{transfer.decomposition, key,
                       Decomposition::map(context_.comm, order.global(), order.uncut_dims(), places, problem),
                       nullptr};
  const std::int64_t chunk = context_.header.chunk_bytes(transfer.variable);
  NodeMessages* const messages =
      messages_.of(context_.comm, context_.groups.nodes(), coders(), context_.options.stage);
  // Where a node's messages hold chunks, and go to all who compress.
  const bool by_nodes = messages != nullptr && ranks == coders() && chunk <= messages->most_cell_bytes();
  chunk_plan.rearranger = std::make_unique<Rearranger>(
      context_.comm, chunk_plan.map, ranks,
      std::max(rearrange_bytes(context_.options.stage), (job.placement->shard ? 2 : 4) * chunk), messages,
      by_nodes);
  if (plans_.size() >= k_most_chunk_plans) plans_.pop_front();
  return plans_.emplace_back(std::move(chunk_plan));
}

// The cells of the job in an array that has none between them, as the map counts them.
Transfer ChunkRearranger::in_chunk_order(const FieldJob& job, const ChunkOrder& order,
                                         const ChunkPlan& chunk_plan) {
  Transfer out = *job.transfer;
  out.decomposition = chunk_plan.map;
  out.region = Box::whole(order.shape());
  out.array = out.array.with_extents(order.array_shape(chunk_plan.map->map()->local_cells()));
  out.mine = chunk_plan.map->map()->empty() ? no_cells(out.region.rank()) : out.region;
  return out;
}

// Without a copy where cells lie close already.
Transfer ChunkRearranger::packed_chunks(const FieldJob& job, const ChunkOrder& order,
                                        const ChunkPlan& chunk_plan, Status& status) {
  const Transfer& transfer = *job.transfer;
  Transfer out = in_chunk_order(job, order, chunk_plan);
  // A list of holes alone has no cells either.
  if (transfer.refused || transfer.mine.empty() || chunk_plan.map->map()->local_cells() == 0) return out;
  const bool mapped = is_mapped(transfer);
  const Box box = own_cells(transfer);
  const bool as_it_is =
      transfer.array.is_dense() && (mapped || (!is_masked(transfer) && transfer.mine == box));
  if (as_it_is) return out;
  ConversionErrors conversion_errors;
  const Status packed = caught([&] {
    const Timer timer(context_.counters.pack);
    const Element from = in_memory(transfer);
    const Element to = mapped ? from : Element{job.variable->type, size_of(job.variable->type), false};
    const Dims extents = mapped ? transfer.array.extents() : box.count;
    std::byte* cells = buffers_.tile.of(static_cast<std::size_t>(volume(extents)) * to.size);
    const Dims strides = byte_strides(extents, to.size);
    if (mapped)
      transfer.array.copy_to(cells, strides);
    else
      conversion_errors =
          pack_cells(transfer, box, cells, strides, find_conversion(from, to), fill_of(*job.variable).data());
    const Dims in_chunks = out.array.extents();
    out.array = CellArray::of_elements(to, cells, in_chunks);
  });
  if (conversion_errors.count > 0)
    status.merge(conversion_status(transfer, *job.variable, conversion_errors, box, true));
  if (!packed.ok()) out.refused.why = packed;
  status.merge(packed);
  return out;
}

// Chunks of a piece of this rank's box: visit(index, number in the region's grid, cells).
template <class Visit>
void ChunkRearranger::for_each_chunk(const FieldJob& job, const ChunkOrder& order, const Box& piece,
                                     std::byte* cells, Visit&& visit) {
  if (piece.empty()) return;
  if (piece.count[2] != order.cells()) throw Error(Code::internal, "a chunk came in parts");
  const auto bytes = static_cast<std::size_t>(context_.header.chunk_bytes(job.transfer->variable));
  const Box chunks = chunks_of(job.transfer->region, job.placement->chunk);
  for (std::int64_t lead = piece.first[0]; lead < piece.end(0); ++lead)
    for (std::int64_t chunk = piece.first[1]; chunk < piece.end(1); ++chunk, cells += bytes) {
      const Dims index = order.index_of(lead, chunk);
      visit(index, static_cast<std::size_t>(position_in(index, chunks)), std::span(cells, bytes));
    }
}

void ChunkRearranger::store_piece(const FieldJob& job, const ChunkOrder& order, const Box& piece,
                                  std::byte* cells, Status& status) {
  std::vector<NewChunk> chunks;
  std::vector<SpaceRequest> wanted;  // chunks one behind the other that are in the same object
  std::vector<std::size_t> request_of;
  std::size_t used = 0;
  status.merge(caught([&] {
    if (piece.empty()) return;
    Encoder& encoder = encoders_.try_emplace(job.transfer->variable, job).first->second;
    for_each_chunk(
        job, order, piece, cells, [&](const Dims& index, std::size_t number, std::span<std::byte> chunk) {
          const Timer timer(context_.counters.encode);
          const auto stored = encoder.coder->encode(chunk);
          if (encoded_.size() < used + stored.bytes.size()) encoded_.resize(2 * used + stored.bytes.size());
          std::copy(stored.bytes.begin(), stored.bytes.end(),
                    encoded_.begin() + static_cast<std::ptrdiff_t>(used));
          const std::uint64_t object = encoder.object_of(index);
          if (wanted.empty() || wanted.back().object != object) wanted.push_back({object, 0});
          chunks.push_back({index, {{0, wanted.back().bytes}, stored.bytes.size(), stored.left_out}});
          request_of.push_back(wanted.size() - 1);
          wanted.back().bytes += stored.bytes.size();
          used += stored.bytes.size();
          const auto bytes = static_cast<std::int64_t>(chunk.size());
          context_.counters.bytes_encoded += bytes;
          if (!job.encoded.empty() && job.encoded[number].address.is_placed())
            context_.counters.bytes_encoded_again += bytes;
        });
  }));
  std::vector<Location> taken;
  status.merge(caught([&] { taken = addresses_.take_space(wanted); }));
  if (taken.size() != wanted.size()) return;
  status.merge(caught([&] {
    const std::byte* from = encoded_.data();
    for (std::size_t i = 0; i < taken.size(); ++i) {
      context_.file.write(taken[i], {from, wanted[i].bytes});
      from += wanted[i].bytes;
    }
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      Location& address = chunks[c].stored.address;
      address = taken[request_of[c]] + static_cast<std::int64_t>(address.offset);
      stored_.push_back({job.transfer->variable, k_after + writes_, chunks[c]});
    }
    if (!job.placement->shard) return;
    encoded_ = {};
    const auto coder = encoders_.find(job.transfer->variable);
    if (coder != encoders_.end()) coder->second.drop_shard();
  }));
}

void ChunkRearranger::load_piece(const FieldJob& job, const ChunkOrder& order, const Box& piece,
                                 std::byte* cells, DecodedChunks* decoded) {
  if (piece.empty()) return;
  Encoder& decoder = encoders_.try_emplace(job.transfer->variable, job).first->second;
  for_each_chunk(job, order, piece, cells, [&](const Dims&, std::size_t number, std::span<std::byte> chunk) {
    const StoredChunk& stored = job.encoded[number];
    if (const Bytes* known = decoded != nullptr ? decoded->find(stored.address) : nullptr) {
      std::copy(known->begin(), known->end(), chunk.begin());
      return;
    }
    decoder.load(context_.file, stored, chunk, context_.counters.decode);
    if (decoded != nullptr && stored.address.is_placed()) decoded->keep(stored.address, chunk);
  });
}

// Cells of the region that nobody sends are fill, whatever the chunk had there, unless they stay.
void ChunkRearranger::clear_piece(const FieldJob& job, const ChunkOrder& order, const Box& piece,
                                  std::byte* cells) {
  if (job.keeps) return;
  const Dims& shape = job.placement->chunk;
  const Bytes fill = stored_fill(*job.variable, job.placement->swapped);
  for_each_chunk(job, order, piece, cells, [&](const Dims& index, std::size_t, std::span<std::byte> chunk) {
    const Box all = cells_of_chunk(index, shape);
    const Box part = intersection(all, job.transfer->region);
    if (part.empty()) return;
    const auto first = position_in(part.first, all) * static_cast<std::int64_t>(fill.size());
    fill_box(chunk.data() + first, byte_strides(shape, fill.size()), part.count, fill.data(), fill.size());
  });
}

Status ChunkRearranger::write(const FieldJob& job) {
  Status status = job.transfer->refused.why;
  if (job.transfer->region.empty()) return status;
  ++writes_;
  const Bytes fill = stored_fill(*job.variable, job.placement->swapped);
  status.merge(caught([&] {
    const ChunkOrder order(job);
    ChunkPlan& chunk_plan = chunk_plan_of(job, order, false);
    const Transfer packed = packed_chunks(job, order, chunk_plan, status);
    bool loaded = true;
    Rearranger::Handling handling;
    handling.buffer = buffers_.for_pieces(status);
    if (!job.encoded.empty())
      handling.load = [&](const Box& piece, std::byte* cells) {
        const Status load = caught([&] {
          load_piece(job, order, piece, cells, nullptr);
          clear_piece(job, order, piece, cells);
        });
        loaded = load.ok();
        status.merge(load);
      };
    handling.store = [&](const Box& piece, std::byte* cells) {
      store_piece(job, order, loaded ? piece : no_cells(piece.rank()), cells, status);
    };
    const ConversionErrors conversion_errors =
        chunk_plan.rearranger->write(packed, job.stored(), fill.data(), {}, handling);
    messages_.count(context_.counters);
    report(job, order, chunk_plan);
    if (conversion_errors.count == 0) return;
    if (is_mapped(*job.transfer))
      status.merge(mapped_conversion_status(*job.transfer, *job.variable, conversion_errors, true));
    else
      status.merge(
          conversion_status(*job.transfer, *job.variable, conversion_errors, own_cells(*job.transfer), true));
  }));
  return status;
}

// Any section of a tile is one in order of chunks: it needs no map of the tiles.
Status ChunkRearranger::read_tiles(const FieldJob& job, DecodedChunks* decoded) {
  const bool halo = reads_halo(context_.comm, *job.transfer);
  const TileCells tile(job, halo, buffers_);
  Transfer packed = *job.transfer;
  packed.array =
      ArrayView::contiguous(tile.box.empty() ? nullptr : tile.cells, job.variable->type, tile.box.count);
  packed.refused.why = tile.status;
  FieldJob of_box = job;
  of_box.transfer = &packed;
  Status status = tile.status;
  status.merge(read_cells(of_box, halo, decoded));
  return status.ok() ? tile.unpack(job, context_.counters) : status;
}

Status ChunkRearranger::read_cells(const FieldJob& job, bool more, DecodedChunks* decoded) {
  const Transfer& transfer = *job.transfer;
  Status status = transfer.refused.why;
  if (transfer.region.empty()) return status;
  status.merge(caught([&] {
    const ChunkOrder order(job);
    ChunkPlan& chunk_plan = chunk_plan_of(job, order, more);
    Transfer packed = in_chunk_order(job, order, chunk_plan);
    const CellArray& array = transfer.array;
    const Element element = in_memory(transfer);
    const bool copies = !transfer.refused && chunk_plan.map->map()->local_cells() > 0 && !array.is_dense();
    const Dims strides = byte_strides(array.extents(), element.size);
    std::byte* dense = nullptr;
    if (copies) {  // holes and land stay as they are
      packed.refused.why = caught([&] {
        dense = buffers_.tile.of(static_cast<std::size_t>(volume(array.extents())) * element.size);
        array.copy_to(dense, strides);
        const Dims in_chunks = packed.array.extents();
        packed.array = CellArray::of_elements(element, dense, in_chunks);
      });
      status.merge(packed.refused.why);
    }
    Rearranger::Handling handling;
    handling.buffer = buffers_.for_pieces(status);
    handling.load = [&](const Box& piece, std::byte* cells) {
      status.merge(caught([&] { load_piece(job, order, piece, cells, decoded); }));
    };
    const ConversionErrors conversion_errors =
        chunk_plan.rearranger->read(packed, job.stored(), {}, handling);
    messages_.count(context_.counters);
    report(job, order, chunk_plan);
    if (copies && !packed.refused) array.copy_from(dense, strides);
    if (conversion_errors.count > 0)
      status.merge(mapped_conversion_status(transfer, *job.variable, conversion_errors, false));
  }));
  return status;
}

// Who compresses has lists of whose cells lie where in its chunks.
void ChunkRearranger::report(const FieldJob& job, const ChunkOrder& order, ChunkPlan& chunk_plan) {
  if (chunk_plan.reported) return;
  chunk_plan.reported = true;
  constexpr std::int64_t k_any = std::int64_t{1} << 50;
  constexpr std::int64_t k_nobody = -1, k_several = -2;
  const Numbered<std::int64_t> nodes =
      context_.comm.all_gather(std::int64_t{context_.groups.nodes().index()});
  SentChunks sent;
  sent.chunks = order.outer_dims() * order.chunks();
  sent.coders = static_cast<std::int64_t>(chunk_plan.rearranger->io_ranks().size());
  const auto plan = chunk_plan.rearranger->plan_of(Box::whole(order.shape()), job.stored(), {}, k_any);
  const Status counted = caught([&] {
    if (!plan || plan->mine.empty()) return;
    Numbered<std::int64_t> node_of(plan->mine.count[1], k_nobody);
    chunk_plan.rearranger->for_each_source(*plan, [&](int rank, const IndexSet& where, std::int64_t bytes) {
      const std::int64_t node = nodes[rank];
      sent.bytes += bytes;
      if (node != context_.groups.nodes().index()) sent.elsewhere += bytes;
      where.for_each_run(0, order.cells() * plan->mine.count[1],
                         [&](std::int64_t position, std::int64_t, std::int64_t length) {
                           const std::int64_t last = (position + length - 1) / order.cells();
                           for (std::int64_t chunk = position / order.cells(); chunk <= last; ++chunk) {
                             auto& has = node_of[chunk];
                             has = has == k_nobody || has == node ? node : k_several;
                           }
                         });
    });
    sent.cut = std::count(node_of.begin(), node_of.end(), k_several) * plan->mine.count[0];
  });
  if (context_.comm.agree(counted).ok()) context_.strategies.report_sent(job, sent);
}

}  // namespace shoal
