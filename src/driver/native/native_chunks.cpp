// SPDX-License-Identifier: BSD-3-Clause
// Compressed chunks of fields whose cells lie on several nodes: cells are sent such that each chunk lies
// whole on one rank, which encodes (decodes) it. Bytes go from there to the file; the owner hears of
// addresses.
#include <algorithm>

#include "base/text.hpp"
#include "driver/io_ranks.hpp"
#include "driver/map_cells.hpp"
#include "driver/native/native_driver.hpp"
#include "driver/tile_maps.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_most_chunk_plans = 16;             // each keeps a map and lists of its cells
constexpr std::uint64_t k_after = std::uint64_t{1} << 62;  // what the stage stored came before

bool is_mapped(const Transfer& transfer) {
  return transfer.decomposition->map() != nullptr;
}

/// As many of the ranks, as far apart as can be.
std::vector<int> some_of(const std::vector<int>& ranks, std::int64_t parts) {
  const auto all = static_cast<std::int64_t>(ranks.size());
  parts = std::clamp<std::int64_t>(parts, 1, all);
  std::vector<int> some;
  for (std::int64_t i = 0; i < parts; ++i)
    some.push_back(ranks[static_cast<std::size_t>(i * all / parts)]);
  return some;
}

/// Are the array's cells without gaps in the order of its dimensions?
bool is_dense(const ArrayView& array) {
  const Dims strides = byte_strides(array.extents, array.element_size);
  for (int d = 0; d < strides.size(); ++d)
    if (array.extents[d] > 1 && array.strides[d] != strides[d]) return false;
  return array.data != nullptr;
}

}  // namespace

// Where cells of other fields are sent too; and of a map that several nodes read, no node may have boxes.
bool NativeDriver::sends_chunks(const FieldJob& job) const {
  const Strategy& strategy = strategies_.of(job.transfer->decomposition.get()).strategy;
  return strategy.rearranging == Rearranging::always || (is_mapped(*job.transfer) && !groups_.single());
}

// All ranks compress, unless it was said who stores.
const std::vector<int>& NativeDriver::coders() {
  if (coders_.empty()) {
    if (strategies_.one_node_stores() || sets_io_ranks(options_) || options_.servers > 0)
      return strategies_.io_ranks();
    for (int r = 0; r < comm_.size(); ++r)
      coders_.push_back(r);
  }
  return coders_;
}

NodeMessages* NativeDriver::chunk_messages() {
  return chunk_messages_.of(coders());
}

NativeDriver::ChunkPlan& NativeDriver::chunk_plan_of(const FieldJob& job, const ChunkOrder& order,
                                                     bool more) {
  const Transfer& transfer = *job.transfer;
  const auto ranks = some_of(coders(), std::max(order.outer_dims(), order.chunks()));
  std::vector<std::int64_t> key = order.key();
  key.push_back(more ? 1 : 0);
  key.push_back(static_cast<std::int64_t>(ranks.size()));
  key.push_back(static_cast<std::int64_t>(size_of(job.variable->type)));
  const auto known = std::find_if(chunk_plans_.begin(), chunk_plans_.end(), [&](const ChunkPlan& chunk_plan) {
    return chunk_plan.decomposition == transfer.decomposition && chunk_plan.key == key;
  });
  if (known != chunk_plans_.end()) return *known;
  std::vector<std::int64_t> places;
  const Status problem = caught([&] {
    places = is_mapped(transfer) ? order.places_of(*transfer.decomposition)
                                 : order.places_of(tile_box(transfer, more));
  });
  ChunkPlan chunk_plan{transfer.decomposition, key,
                       Decomposition::map(comm_, order.global(), order.uncut_dims(), places, problem),
                       nullptr};
  const std::int64_t chunk = header_.chunk_bytes(transfer.variable);
  NodeMessages* const messages = chunk_messages();
  // Where a node's messages hold chunks, and go to all who compress.
  const bool by_nodes = messages != nullptr && ranks == coders() && chunk <= messages->most_cell_bytes();
  chunk_plan.rearranger = std::make_unique<Rearranger>(
      comm_, chunk_plan.map, ranks, std::max(rearrange_bytes(options_), 4 * chunk), messages, by_nodes);
  if (chunk_plans_.size() >= k_most_chunk_plans) chunk_plans_.pop_front();
  return chunk_plans_.emplace_back(std::move(chunk_plan));
}

// The cells of the job in an array that has none between them, as the map counts them.
Transfer NativeDriver::in_chunk_order(const FieldJob& job, const ChunkOrder& order,
                                      const ChunkPlan& chunk_plan) {
  Transfer out = *job.transfer;
  out.source = {};
  out.decomposition = chunk_plan.map;
  out.region = Box::whole(order.shape());
  out.array.extents = order.array_shape(chunk_plan.map->map()->local_cells());
  out.array.strides = byte_strides(out.array.extents, out.array.element_size);
  out.mine =
      chunk_plan.map->map()->empty() ? Box(Dims(out.region.rank()), Dims(out.region.rank())) : out.region;
  return out;
}

// Without a copy where cells lie close already.
Transfer NativeDriver::packed_chunks(const FieldJob& job, const ChunkOrder& order,
                                     const ChunkPlan& chunk_plan, Status& status) {
  const Transfer& transfer = *job.transfer;
  Transfer out = in_chunk_order(job, order, chunk_plan);
  if (!transfer.status.ok() || chunk_plan.map->map()->local_cells() == 0) return out;
  const bool mapped = is_mapped(transfer);
  const Box box = own_cells(transfer);
  const bool as_it_is = !transfer.source && is_dense(transfer.array) &&
                        (mapped || (!is_masked(transfer) && transfer.mine == box));
  if (as_it_is) return out;
  ConversionErrors conversion_errors;
  const Status packed = caught([&] {
    const Timer timer(counters_.pack);
    const Element from = in_memory(transfer);
    const Element to = mapped ? from : Element{job.variable->type, size_of(job.variable->type), false};
    const Dims extents = mapped ? transfer.array.extents : box.count;
    std::byte* cells = buffers_.tile.of(static_cast<std::size_t>(volume(extents)) * to.size);
    const Dims strides = byte_strides(extents, to.size);
    if (mapped)
      copy_box(transfer.array.data, transfer.array.strides, cells, strides, extents,
               find_conversion(from, to), nullptr);
    else
      conversion_errors =
          pack_cells(transfer, box, cells, strides, find_conversion(from, to), fill_of(*job.variable).data());
    out.array =
        ArrayView{cells, to.type, to.size, out.array.extents, byte_strides(out.array.extents, to.size)};
  });
  if (conversion_errors.count > 0)
    status.merge(conversion_status(transfer, *job.variable, conversion_errors, box, true));
  if (!packed.ok()) out.status = packed;
  status.merge(packed);
  return out;
}

// Chunks of a piece of this rank's box: visit(index, number in the region's grid, cells).
template <class Visit>
void NativeDriver::for_each_chunk(const FieldJob& job, const ChunkOrder& order, const Box& piece,
                                  std::byte* cells, Visit&& visit) {
  if (piece.empty()) return;
  if (piece.count[2] != order.cells()) throw Error(Code::internal, "a chunk came in parts");
  const auto bytes = static_cast<std::size_t>(header_.chunk_bytes(job.transfer->variable));
  const Box chunks = chunks_of(job.transfer->region, job.placement->chunk);
  for (std::int64_t lead = piece.first[0]; lead < piece.end(0); ++lead)
    for (std::int64_t chunk = piece.first[1]; chunk < piece.end(1); ++chunk, cells += bytes) {
      const Dims index = order.index_of(lead, chunk);
      visit(index, static_cast<std::size_t>(position_in(index, chunks)), std::span(cells, bytes));
    }
}

void NativeDriver::store_piece(const FieldJob& job, const ChunkOrder& order, const Box& piece,
                               std::byte* cells, Status& status) {
  std::vector<NewChunk> chunks;
  std::size_t used = 0;
  status.merge(caught([&] {
    if (piece.empty()) return;
    Encoder& encoder = encoders_.try_emplace(job.transfer->variable, job).first->second;
    for_each_chunk(job, order, piece, cells,
                   [&](const Dims& index, std::size_t number, std::span<std::byte> chunk) {
                     const Timer timer(counters_.encode);
                     const auto stored = encoder.coder.encode(chunk);
                     if (encoded_.size() < used + stored.bytes.size())
                       encoded_.resize(2 * used + stored.bytes.size());
                     std::copy(stored.bytes.begin(), stored.bytes.end(),
                               encoded_.begin() + static_cast<std::ptrdiff_t>(used));
                     chunks.push_back({index, {used, stored.bytes.size(), stored.left_out}});
                     used += stored.bytes.size();
                     const auto bytes = static_cast<std::int64_t>(chunk.size());
                     counters_.bytes_encoded += bytes;
                     if (!job.encoded.empty() && job.encoded[number].address != k_unplaced)
                       counters_.bytes_encoded_again += bytes;
                   });
  }));
  std::uint64_t begin = k_unplaced;
  status.merge(caught([&] { begin = addresses_.take_space(used); }));
  if (begin == k_unplaced || chunks.empty()) return;
  status.merge(caught([&] {
    file_.write(begin, {encoded_.data(), used});
    for (auto& chunk : chunks) {
      chunk.stored.address += begin;
      stored_.push_back({job.transfer->variable, k_after + chunk_writes_, chunk});
    }
  }));
}

void NativeDriver::load_piece(const FieldJob& job, const ChunkOrder& order, const Box& piece,
                              std::byte* cells) {
  if (piece.empty()) return;
  Encoder& decoder = encoders_.try_emplace(job.transfer->variable, job).first->second;
  const bool keeps = !writable_ && parts_->is_part(job);
  for_each_chunk(job, order, piece, cells, [&](const Dims&, std::size_t number, std::span<std::byte> chunk) {
    const StoredChunk& stored = job.encoded[number];
    if (const Bytes* known = keeps ? decoded_->find(stored.address) : nullptr) {
      std::copy(known->begin(), known->end(), chunk.begin());
      return;
    }
    decoder.load(file_, stored, chunk, counters_.decode);
    if (keeps && stored.address != k_unplaced) decoded_->keep(stored.address, chunk);
  });
}

// Cells of the region that nobody sends are fill, whatever the chunk had there, unless they stay.
void NativeDriver::clear_piece(const FieldJob& job, const ChunkOrder& order, const Box& piece,
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

Status NativeDriver::send_chunks(const FieldJob& job) {
  Status status = job.transfer->status;
  if (job.transfer->region.empty()) return status;
  ++chunk_writes_;
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
          load_piece(job, order, piece, cells);
          clear_piece(job, order, piece, cells);
        });
        loaded = load.ok();
        status.merge(load);
      };
    handling.store = [&](const Box& piece, std::byte* cells) {
      store_piece(job, order, loaded ? piece : Box(Dims(piece.rank()), Dims(piece.rank())), cells, status);
    };
    const ConversionErrors conversion_errors =
        chunk_plan.rearranger->write(packed, job.stored(), fill.data(), Dims(), handling);
    chunk_messages_.count();
    report_sent_chunks(job, order, chunk_plan);
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
Status NativeDriver::fetch_tiles(const FieldJob& job) {
  const bool halo = reads_halo(comm_, *job.transfer);
  const TileCells tile(job, halo, buffers_);
  Transfer packed = *job.transfer;
  packed.array =
      ArrayView::contiguous(tile.box.empty() ? nullptr : tile.cells, job.variable->type, tile.box.count);
  packed.status = tile.status;
  FieldJob of_box = job;
  of_box.transfer = &packed;
  Status status = tile.status;
  status.merge(fetch_chunks(of_box, halo));
  return status.ok() ? tile.unpack(job, counters_) : status;
}

Status NativeDriver::fetch_chunks(const FieldJob& job, bool more) {
  const Transfer& transfer = *job.transfer;
  Status status = transfer.status;
  if (transfer.region.empty()) return status;
  status.merge(caught([&] {
    const ChunkOrder order(job);
    ChunkPlan& chunk_plan = chunk_plan_of(job, order, more);
    Transfer packed = in_chunk_order(job, order, chunk_plan);
    const ArrayView& array = transfer.array;
    const Element element = in_memory(transfer);
    const bool copies = transfer.status.ok() && chunk_plan.map->map()->local_cells() > 0 && !is_dense(array);
    const ConvertRun copy = copies ? find_conversion(element, element) : ConvertRun(nullptr);
    const Dims strides = byte_strides(array.extents, element.size);
    if (copies) {  // holes and land stay as they are
      packed.status = caught([&] {
        packed.array.data = buffers_.tile.of(static_cast<std::size_t>(volume(array.extents)) * element.size);
        copy_box(array.data, array.strides, packed.array.data, strides, array.extents, copy, nullptr);
      });
      status.merge(packed.status);
    }
    Rearranger::Handling handling;
    handling.buffer = buffers_.for_pieces(status);
    handling.load = [&](const Box& piece, std::byte* cells) {
      status.merge(caught([&] { load_piece(job, order, piece, cells); }));
    };
    const ConversionErrors conversion_errors =
        chunk_plan.rearranger->read(packed, job.stored(), Dims(), handling);
    chunk_messages_.count();
    report_sent_chunks(job, order, chunk_plan);
    if (copies && packed.status.ok())
      copy_box(packed.array.data, strides, array.data, array.strides, array.extents, copy, nullptr);
    if (conversion_errors.count > 0)
      status.merge(mapped_conversion_status(transfer, *job.variable, conversion_errors, false));
  }));
  return status;
}

// Who compresses has lists of whose cells lie where in its chunks.
void NativeDriver::report_sent_chunks(const FieldJob& job, const ChunkOrder& order, ChunkPlan& chunk_plan) {
  if (chunk_plan.reported) return;
  chunk_plan.reported = true;
  constexpr std::int64_t k_any = std::int64_t{1} << 50;
  constexpr std::int64_t k_nobody = -1, k_several = -2;
  const auto nodes = comm_.all_gather(std::int64_t{groups_.nodes().index()});
  SentChunks sent;
  sent.chunks = order.outer_dims() * order.chunks();
  sent.coders = static_cast<std::int64_t>(chunk_plan.rearranger->io_ranks().size());
  const auto plan = chunk_plan.rearranger->plan_of(Box::whole(order.shape()), job.stored(), Dims(), k_any);
  const Status counted = caught([&] {
    if (!plan || plan->mine.empty()) return;
    std::vector<std::int64_t> node_of(static_cast<std::size_t>(plan->mine.count[1]), k_nobody);
    chunk_plan.rearranger->for_each_source(*plan, [&](int rank, const IndexSet& where, std::int64_t bytes) {
      const std::int64_t node = nodes[static_cast<std::size_t>(rank)];
      sent.bytes += bytes;
      if (node != groups_.nodes().index()) sent.elsewhere += bytes;
      where.for_each_run(0, order.cells() * plan->mine.count[1],
                         [&](std::int64_t position, std::int64_t, std::int64_t length) {
                           const std::int64_t last = (position + length - 1) / order.cells();
                           for (std::int64_t chunk = position / order.cells(); chunk <= last; ++chunk) {
                             auto& has = node_of[static_cast<std::size_t>(chunk)];
                             has = has == k_nobody || has == node ? node : k_several;
                           }
                         });
    });
    sent.cut = std::count(node_of.begin(), node_of.end(), k_several) * plan->mine.count[0];
  });
  if (comm_.agree(counted).ok()) strategies_.report_sent(job, sent);
}

}  // namespace shoal
