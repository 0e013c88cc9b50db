// SPDX-License-Identifier: BSD-3-Clause
// Fields that are cut by maps, or into tiles where boxes of I/O ranks are asked for: rearranged to boxes,
// which go the way of all others.
#include <algorithm>

#include "driver/box_driver.hpp"
#include "rearrange/alignment.hpp"
#include "rearrange/tile_maps.hpp"

namespace shoal {

// Of chunks, or of stripes where it is known where the variable lies.
Dims BoxDriver::alignment(int v) const {
  const VariableDef& definition = variable(v);
  if (definition.chunks.size() == definition.dims.size()) return Dims(definition.chunks);
  const Placement& where = placement(v);
  if (where.chunk.size() != static_cast<int>(definition.dims.size())) return {};
  return alignment_of(where, schema_.has_record(v), size_of(definition.type), options_.alignment_bytes);
}

bool BoxDriver::rearranges(const Transfer& transfer) const {
  if (!transfer.decomposition) return false;
  if (transfer.decomposition->map() != nullptr) return true;
  return asks_for_boxes(options_) && comm_.size() > 1 &&
         (check_section(transfer).ok() || !one_rank_has_all(comm_, *transfer.decomposition));
}

BoxDriver::Rearranged& BoxDriver::rearranged(const std::shared_ptr<const Decomposition>& decomposition,
                                             bool halo) {
  const auto known = std::find_if(maps_.begin(), maps_.end(), [&](const Rearranged& r) {
    return r.decomposition == decomposition && r.halo == halo;
  });
  if (known != maps_.end()) return *known;
  if (!rearrangers_) {
    rearrangers_.emplace(comm_, options_,
                         sets_io_ranks(options_) ? choose_io_ranks(comm_, options_) : usual_io_ranks());
    counters_.writers = static_cast<int>(rearrangers_->io_ranks().size());
  }
  Rearranged made{decomposition, halo, decomposition, nullptr};
  if (decomposition->map() == nullptr) made.map = map_of_tiles(comm_, *decomposition, halo);
  made.rearranger = &rearrangers_->of(made.map);
  maps_.push_back(std::move(made));
  return maps_.back();
}

void BoxDriver::write_tiles(const Transfer& transfer) {
  Rearranged* how = nullptr;
  Status status = caught([&] { how = &rearranged(transfer.decomposition); });
  if (status.ok() && transfer.decomposition->map() != nullptr) return write_map(transfer, *how->rearranger);
  if (status.ok()) status = check_section(transfer);
  if (!status.ok()) return keep(status, transfer.variable);
  Transfer packed;
  keep(pack_tile(transfer, variable(transfer.variable), how->map, tile_, counters_.pack, packed),
       transfer.variable);
  write_map(packed, *how->rearranger);
}

Status BoxDriver::read_tiles(const Transfer& transfer) {
  const bool is_map = transfer.decomposition->map() != nullptr;
  Rearranged& how = rearranged(transfer.decomposition, overlapping_);
  if (is_map) return read_map(transfer, *how.rearranger);
  Status status = check_section(transfer);
  if (!status.ok()) return status;
  const VariableDef& definition = variable(transfer.variable);
  const Box box = tile_box(transfer, overlapping_);
  std::byte* cells = nullptr;
  status =
      caught([&] { cells = tile_.of(static_cast<std::size_t>(box.cells()) * size_of(definition.type)); });
  status.merge(read_map(as_map(transfer, how.map, box, cells, definition.type), *how.rearranger));
  if (!status.ok() || box.empty()) return status;
  const Timer unpack_timer(counters_.unpack);
  return unpack_tile(transfer, definition, box, cells);
}

// Boxes have cells that nobody owns: so many records may have some that must stay. Ranks that missed a call
// in which they do not meet know less: then the one that knows most counts.
std::int64_t BoxDriver::kept_records(const Transfer& transfer) {
  const Decomposition& map = *transfer.decomposition;
  const int v = transfer.variable;
  const std::int64_t had = records_.written_records(schema_, v);
  records_.note_write(schema_, v, transfer.region);
  return keeps_unowned(v) && map.owned_cells() < volume(map.global()) ? comm_.max(had) : 0;
}

// A rank with bad arguments leaves fill values, as what it should have written.
void BoxDriver::write_map(const Transfer& transfer, Rearranger& rearranger) {
  const int v = transfer.variable;
  const VariableDef& definition = variable(v);
  const Status writable = transfer.decomposition->writable();
  if (!writable.ok()) return keep(writable, v);
  if (transfer.status.ok() && transfer.array.data == nullptr && !transfer.region.empty() &&
      !transfer.decomposition->map()->empty())
    keep({Code::not_supported, "cells of a map can only be written from an array", -1, {}, {}}, v);
  const std::int64_t kept = kept_records(transfer);
  const bool of_records = schema_.has_record(v);
  const bool keeps = !parts_at(transfer.region, kept, of_records).first.empty();
  if (keeps) keep(caught([&] { complete_pending(); }), v);
  begin_storing(v, transfer.region, false);
  ++counters_.fields_written;
  records_.add(schema_, v, transfer.region);
  const Bytes fill = stored_fill(definition, stored(v).swapped);
  const auto buffer = [&](std::size_t bytes) {
    std::byte* cells = nullptr;
    keep(caught([&] { cells = buffer_for_cells(bytes); }), v);
    return cells;
  };
  Rearranger::UsePiece load_piece;
  bool loaded = true;  // the piece that is stored next, where cells must stay
  if (keeps)
    load_piece = [&](const Box& piece, std::byte* cells) {
      const Timer read_timer(counters_.read);
      const auto [there, added] = parts_at(piece, kept, of_records);
      const Status status = caught([&, there = there] { load(v, there, cells); });
      if (!added.empty()) {
        const auto size = static_cast<std::int64_t>(fill.size());
        fill_box(cells + there.cells() * size, {size}, {added.cells()}, fill.data(), fill.size());
      }
      loaded = status.ok();
      keep(status, v);
    };
  const auto store_piece = [&](const Box& piece, const std::byte* cells) {
    const Timer store_timer(counters_.store);
    keep(caught([&] { store(v, loaded ? piece : Box(Dims(piece.rank()), Dims(piece.rank())), cells); }), v);
    counters_.bytes_written += piece.cells() * static_cast<std::int64_t>(size_of(definition.type));
  };
  const Seconds begin = now();
  const Seconds storing = counters_.store;
  ConversionErrors conversion_errors;
  keep(caught([&] {
         conversion_errors = rearranger.write(transfer, stored(v), fill.data(), alignment(v),
                                              {buffer, load_piece, store_piece});
       }),
       v);
  counters_.pack += now() - begin - (counters_.store - storing);
  rearrangers_->report(counters_);
  if (conversion_errors.count > 0)
    keep(mapped_conversion_status(transfer, definition, conversion_errors, true), v);
}

Status BoxDriver::read_map(const Transfer& transfer, Rearranger& rearranger) {
  const int v = transfer.variable;
  const VariableDef& definition = variable(v);
  Status status = caught([&] { complete_pending(); });
  const auto buffer = [&](std::size_t bytes) {
    std::byte* cells = nullptr;
    status.merge(caught([&] { cells = packed_.of(bytes); }));
    return cells;
  };
  const auto load_piece = [&](const Box& piece, std::byte* cells) {
    const Timer read_timer(counters_.read);
    status.merge(caught([&] { load(v, piece, cells); }));
    counters_.bytes_read += piece.cells() * static_cast<std::int64_t>(size_of(definition.type));
  };
  const Seconds begin = now();
  const Seconds loaded = counters_.read;
  ConversionErrors conversion_errors;
  status.merge(caught([&] {
    conversion_errors = rearranger.read(transfer, stored(v), alignment(v), {buffer, load_piece, {}});
  }));
  counters_.unpack += now() - begin - (counters_.read - loaded);
  rearrangers_->report(counters_);
  if (conversion_errors.count > 0)
    status.merge(mapped_conversion_status(transfer, definition, conversion_errors, false));
  if (!status.ok() && status.variable.empty()) status.variable = definition.name;
  return status;
}

}  // namespace shoal
