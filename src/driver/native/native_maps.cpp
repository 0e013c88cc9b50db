// SPDX-License-Identifier: BSD-3-Clause
// Fields whose cells are sent to I/O ranks, each of which stores (fetches) a box of the field itself.
#include <algorithm>

#include "driver/alignment.hpp"
#include "driver/io_ranks.hpp"
#include "driver/map_cells.hpp"
#include "driver/native/native_driver.hpp"
#include "driver/tile_maps.hpp"

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

bool fits(const Schema& schema, const VariableDef& v, const Decomposition& cut) {
  const auto n = static_cast<std::size_t>(cut.rank());
  if (v.dims.size() < n) return false;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& dim = schema.dims[static_cast<std::size_t>(v.dims[v.dims.size() - n + i])];
    if (!dim.unlimited && dim.length != cut.global()[static_cast<int>(i)]) return false;
  }
  return true;
}

}  // namespace

bool NativeDriver::must_send(const CutStrategy& cut, const Schema& schema) const {
  const Decomposition& decomposition = *cut.decomposition;
  if (decomposition.map() == nullptr || cut.strategy.rearranging == Rearranging::always) return false;
  const bool keeps = std::any_of(schema.variables.begin(), schema.variables.end(), [&](const auto& v) {
    return fits(schema, v, decomposition) && context_.may_keep(decomposition, v);
  });
  if (const std::string setting = setting_that_keeps(options_); keeps && !setting.empty())
    throw Error(Code::setting,
                setting +
                    ", but cells of a map that nobody owns must stay as they are in a variable without fill, "
                    "or with fill=false, for which I/O ranks read what is there; leave the setting out");
  return keeps;
}

// Where cells of a map may be sent, where bytes of the file must be kept between those of a map, and where
// I/O ranks read by the library for others.
void NativeDriver::find_rearranger(CutStrategy& cut) {
  const Decomposition& decomposition = *cut.decomposition;
  if (decomposition.map() == nullptr) return;
  if (must_send(cut, header_.schema())) {
    cut.strategy = {Rearranging::always, "cells that nobody owns stay as they are"};
    cut.fields.clear();
  }
  bool fetches = false;  // by the library
  for (std::size_t v = 0; v < header_.schema().variables.size(); ++v)
    fetches = fetches || (header_.placement(static_cast<int>(v)).kind == Placement::Kind::library &&
                          fits(header_.schema(), header_.schema().variables[v], decomposition));
  if ((fetches || cut.strategy.rearranging != Rearranging::never) && rearrangers_.count(&decomposition) == 0)
    add_rearranger(cut.decomposition);
}

Rearranger* NativeDriver::rearranger_of(const Transfer& transfer) const {
  const auto found = rearrangers_.find(transfer.decomposition.get());
  return found == rearrangers_.end() ? nullptr : found->second.get();
}

void NativeDriver::add_rearranger(const std::shared_ptr<const Decomposition>& map) {
  const std::vector<int>& io_ranks = strategies_.io_ranks();
  if (!groups_.single() && !node_messages_)
    node_messages_.emplace(comm_, groups_.nodes(), io_ranks, window_bytes(options_));
  if (!queue_ && writable_)
    queue_.emplace(comm_, io_ranks, window_bytes(options_) / 4, node_messages_ ? &*node_messages_ : nullptr);
  const auto add = [&](const std::shared_ptr<const Decomposition>& one) {
    rearrangers_.emplace(one.get(),
                         std::make_unique<Rearranger>(comm_, one, io_ranks, rearrange_bytes(options_),
                                                      node_messages_ ? &*node_messages_ : nullptr));
  };
  add(map);
  if (options_.alignment_bytes == 0 || map->mapped_shape().size() == 1) return;
  add(rows_.emplace(map.get(), map->flattened()).first->second);
}

std::shared_ptr<const Decomposition> NativeDriver::known_map(
    const std::shared_ptr<const Decomposition>& cut) const {
  if (cut->map() != nullptr) return cut;
  const auto known = std::find_if(tile_maps_.begin(), tile_maps_.end(),
                                  [&](const TileMap& t) { return t.block == cut && !t.halo; });
  return known == tile_maps_.end() ? nullptr : known->map;
}

bool NativeDriver::is_flattened(const FieldJob& job) const {
  const auto map = known_map(job.transfer->decomposition);
  if (rows_.count(map.get()) == 0 || job.placement->kind != Placement::Kind::regular ||
      alignment_of(job).empty())
    return false;
  const Box& region = job.transfer->region;
  const Dims mapped = map->mapped_shape();
  const int first = region.rank() - map->rank();
  for (int d = 0; d < mapped.size(); ++d)
    if (region.count[first + d] != mapped[d] || job.placement->chunk[first + d] != mapped[d]) return false;
  return true;
}

FieldJob NativeDriver::as_flattened(const FieldJob& job, bool goes, Row& row) const {
  if (!goes) return job;
  const auto map = known_map(job.transfer->decomposition);
  const Box& region = job.transfer->region;
  const Dims mapped = map->mapped_shape();
  const int first = region.rank() - map->rank();
  row.transfer = *job.transfer;
  row.transfer.decomposition = rows_.at(map.get());
  row.transfer.region = flattened(region, first, mapped.size());
  row.placement = *job.placement;
  row.placement.chunk = flattened(job.placement->chunk, first, mapped.size());
  FieldJob out = job;
  out.transfer = &row.transfer;
  out.placement = &row.placement;
  return out;
}

void NativeDriver::count_messages() {
  counters_.messages = counters_.message_bytes = 0;
  for (const auto* of : {&node_messages_, &chunk_messages_}) {
    if (!*of) continue;
    counters_.messages += (*of)->messages();
    counters_.message_bytes += (*of)->message_bytes();
  }
}

const std::shared_ptr<const Decomposition>& NativeDriver::map_of(
    const std::shared_ptr<const Decomposition>& block, bool halo) {
  for (const auto& known : tile_maps_)
    if (known.block == block && known.halo == halo) return known.map;
  tile_maps_.push_back({block, halo, map_of_tiles(comm_, *block, halo)});
  add_rearranger(tile_maps_.back().map);
  return tile_maps_.back().map;
}

Status NativeDriver::store_tiles(const FieldJob& job) {
  Status status = check_section(*job.transfer);
  if (!status.ok()) return status;
  Transfer packed;
  status = pack_tile(*job.transfer, *job.variable, map_of(job.transfer->decomposition, false), tile_,
                     counters_.pack, packed);
  FieldJob as_boxes = job;
  as_boxes.transfer = &packed;
  status.merge(store_boxes(as_boxes));
  return status;
}

// Encoded chunks need no map of the tiles: any section of them is one in order of chunks.
Status NativeDriver::fetch_tiles(const FieldJob& job) {
  const Transfer& transfer = *job.transfer;
  const bool more = !transfer.mine.empty() && transfer.mine != own_cells(transfer);
  const bool halo = comm_.max(std::int64_t{more ? 1 : 0}) != 0;
  Status status = job.is_encoded() ? Status{} : check_section(transfer);
  if (!status.ok()) return status;
  const Type type = job.variable->type;
  const Box box = tile_box(transfer, halo);
  std::byte* cells = nullptr;
  status = transfer.status;
  status.merge(caught([&] { cells = tile_.of(static_cast<std::size_t>(box.cells()) * size_of(type)); }));
  Transfer packed;
  if (job.is_encoded()) {
    packed = transfer;
    packed.array = ArrayView::contiguous(box.empty() ? nullptr : cells, type, box.count);
  } else {
    packed = as_map(transfer, map_of(transfer.decomposition, halo), box, cells, type);
  }
  packed.status = status;
  FieldJob of_box = job;
  of_box.transfer = &packed;
  status.merge(job.is_encoded() ? fetch_chunks(of_box, halo) : fetch_boxes(of_box));
  if (!status.ok() || box.empty()) return status;
  const Timer timer(counters_.unpack);
  return unpack_tile(transfer, *job.variable, box, cells);
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

void NativeDriver::store_box(const FieldJob& job, const Box& box, std::byte* cells) {
  const ConvertRun copy = find_conversion(job.stored(), job.stored());
  move_box(job, box, cells, [&](const Cut& cut) {
    if (!cut.whole)
      copy_box(cut.in_box, cut.box_strides, cut.cells, cut.strides, cut.piece.cells.count, copy, nullptr);
    ExtentMerger merger([&](const Extent& extent) {
      file_.write(extent.in_file, {cut.cells + extent.in_stage, static_cast<std::size_t>(extent.bytes)});
    });
    add_extents(cut.piece, job.placement->chunk, size_of(job.variable->type), cut.address, 0, merger);
    merger.flush();
  });
}

Rearranger::Handling NativeDriver::handling_of(const FieldJob& job, Status& status) {
  const auto size = static_cast<std::int64_t>(size_of(job.variable->type));
  const ConvertRun copy = find_conversion(job.stored(), job.stored());
  Rearranger::Handling handling;
  handling.buffer = [&](std::size_t bytes) {
    std::byte* cells = nullptr;
    status.merge(caught([&] { cells = box_cells_.of(bytes); }));
    return cells;
  };
  const auto loaded = std::make_shared<bool>(true);  // the box that is stored next, where cells must stay
  handling.store = [&, loaded](const Box& box, std::byte* cells) {
    if (*loaded) status.merge(caught([&] { store_box(job, box, cells); }));
  };
  handling.load = [&, size, copy, loaded, fill = stored_fill(*job.variable, job.placement->swapped)](
                      const Box& box, std::byte* cells) {
    const Status load = caught([&] {
      move_box(job, box, cells, [&](const Cut& cut) {
        const bool there = cut.address != k_unplaced;
        ExtentMerger merger([&](const Extent& extent) {
          std::int64_t got = 0;
          if (there)
            got = static_cast<std::int64_t>(file_.read(
                extent.in_file, {cut.cells + extent.in_stage, static_cast<std::size_t>(extent.bytes)}));
          // Behind the end of the file: records that others only announced.
          const std::int64_t whole = got / size * size;
          if (got < extent.bytes)
            fill_box(cut.cells + extent.in_stage + whole, {size}, {(extent.bytes - whole) / size},
                     fill.data(), fill.size());
        });
        add_extents(cut.piece, job.placement->chunk, fill.size(), there ? cut.address : 0, 0, merger);
        merger.flush();
        if (!cut.whole)
          copy_box(cut.cells, cut.strides, cut.in_box, cut.box_strides, cut.piece.cells.count, copy, nullptr);
      });
    });
    *loaded = load.ok();
    status.merge(load);
  };
  return handling;
}

Status NativeDriver::store_boxes(const FieldJob& as_cut) {
  Row row;
  const FieldJob job = as_flattened(as_cut, is_flattened(as_cut), row);
  const Transfer& transfer = *job.transfer;
  Status status = transfer.status;
  staged_.complete_overlap(as_cut, status);
  const Bytes fill = stored_fill(*job.variable, job.placement->swapped);
  Rearranger::Handling handling = handling_of(job, status);
  if (!job.keeps) handling.load = {};
  const Seconds begin = now();
  const Seconds moved = counters_.store + counters_.read;
  ConversionErrors conversion_errors;
  status.merge(caught([&] {
    conversion_errors =
        rearranger_of(transfer)->write(transfer, job.stored(), fill.data(), alignment_of(job), handling);
  }));
  counters_.pack += now() - begin - (counters_.store + counters_.read - moved);
  count_messages();
  if (conversion_errors.count > 0)
    status.merge(mapped_conversion_status(*as_cut.transfer, *job.variable, conversion_errors, true));
  return status;
}

Status NativeDriver::fetch_boxes(const FieldJob& as_cut) {
  Row row;
  const FieldJob job = as_flattened(as_cut, is_flattened(as_cut), row);
  Status status = job.transfer->status;
  const Rearranger::Handling handling = handling_of(job, status);
  status.merge(fetch_boxes(job, *as_cut.transfer, job.stored(), handling));
  return status;
}

// Only I/O ranks have the file open with the library, each for its box.
Status NativeDriver::fetch_by_library(const FieldJob& job) {
  Status status = job.transfer->status;
  Rearranger::Handling handling;
  handling.buffer = buffer_of_pieces(status);
  handling.load = [&](const Box& box, std::byte* cells) {
    const Timer timer(counters_.read);
    status.merge(caught([&] {
      if (!box.empty()) header_.get_by_library(job.transfer->variable, box, cells);
    }));
  };
  status.merge(
      fetch_boxes(job, *job.transfer, {job.variable->type, size_of(job.variable->type), false}, handling));
  return status;
}

Status NativeDriver::fetch_boxes(const FieldJob& job, const Transfer& as_cut, const Element& stored,
                                 const Rearranger::Handling& handling) {
  const Transfer& transfer = *job.transfer;
  Status status;
  const Seconds begin = now();
  const Seconds fetched = counters_.read;
  ConversionErrors conversion_errors;
  status.merge(caught([&] {
    conversion_errors = rearranger_of(transfer)->read(transfer, stored, alignment_of(job), handling);
  }));
  counters_.unpack += now() - begin - (counters_.read - fetched);
  count_messages();
  if (conversion_errors.count > 0)
    status.merge(mapped_conversion_status(as_cut, *job.variable, conversion_errors, false));
  return status;
}

}  // namespace shoal
