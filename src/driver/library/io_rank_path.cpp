// SPDX-License-Identifier: BSD-3-Clause
#include "driver/library/io_rank_path.hpp"

#include <utility>

#include "pack/cells.hpp"
#include "rearrange/alignment.hpp"
#include "rearrange/io_ranks.hpp"
#include "rearrange/tile_maps.hpp"

namespace shoal {

// Multiples of cells at which pieces had best begin: of chunks, or of stripes where it is known where the
// variable lies.
Dims IoRankPath::alignment(int v) const {
  const VariableDef& definition = context_.variable(v);
  if (definition.chunks.size() == definition.dims.size()) return Dims(definition.chunks);
  const Placement& where = context_.placement(v);
  if (where.chunk.size() != static_cast<int>(definition.dims.size())) return {};
  return alignment_of(where, context_.schema.has_record(v), size_of(definition.type),
                      context_.options.rearranging.alignment_bytes);
}

bool IoRankPath::takes(const Transfer& transfer) const {
  if (!transfer.decomposition) return false;
  if (transfer.decomposition->map() != nullptr) return true;
  return asks_for_boxes(context_.options.rearranging) && context_.comm.size() > 1 &&
         (check_section(transfer).ok() || !one_rank_has_all(context_.comm, *transfer.decomposition));
}

std::shared_ptr<const Decomposition> IoRankPath::map_of(
    const std::shared_ptr<const Decomposition>& decomposition, bool halo) {
  if (!rearrangers_) {
    const RearrangeOptions& options = context_.options.rearranging;
    const bool only_root = output_.traits().root_alone && !sets_io_ranks(options);
    rearrangers_.emplace(context_.comm, options,
                         only_root ? std::vector<int>{0} : choose_io_ranks(context_.comm, options),
                         context_.options.stage);
    context_.counters.writers = static_cast<int>(rearrangers_->io_ranks().size());
  }
  auto map = rearrangers_->map_of(decomposition, halo);
  rearrangers_->of(map);
  return map;
}

void IoRankPath::prepare(const std::shared_ptr<const Decomposition>& decomposition) {
  if (decomposition->map() != nullptr || asks_for_boxes(context_.options.rearranging))
    map_of(decomposition, false);
}

void IoRankPath::write(const Transfer& transfer) {
  std::shared_ptr<const Decomposition> map;
  Status status = caught([&] { map = map_of(transfer.decomposition, false); });
  if (status.ok() && map == transfer.decomposition) return write_map(transfer);
  if (status.ok()) status = check_section(transfer);
  if (!status.ok()) return output_.keep(status, transfer.variable);
  Transfer packed;
  output_.keep(
      pack_tile(transfer, context_.variable(transfer.variable), map, tile_, context_.counters.pack, packed),
      transfer.variable);
  write_map(packed);
}

Status IoRankPath::read(const Transfer& transfer, bool overlapping) {
  const auto map = map_of(transfer.decomposition, overlapping);
  if (map == transfer.decomposition) return read_map(transfer, overlapping);
  Status status = check_section(transfer);
  if (!status.ok()) return status;
  const VariableDef& definition = context_.variable(transfer.variable);
  const Box box = tile_box(transfer, overlapping);
  std::byte* cells = nullptr;
  status = caught([&] { cells = tile_.of(bytes_of(box, size_of(definition.type))); });
  status.merge(read_map(as_map(transfer, map, box, cells, definition.type), overlapping));
  if (!status.ok() || box.empty()) return status;
  const Timer unpack_timer(context_.counters.unpack);
  return unpack_tile(transfer, definition, box, cells);
}

// Boxes have cells that nobody owns: so many records may have some that must stay. Ranks that missed a call
// in which they do not meet know less: then the one that knows most counts.
std::int64_t IoRankPath::kept_records(const Transfer& transfer) {
  const Decomposition& map = *transfer.decomposition;
  const int v = transfer.variable;
  const std::int64_t had = output_.records().written_records(context_.schema, v);
  output_.records().note_write(context_.schema, v, transfer.region);
  return context_.keeps_unowned(transfer) && map.has_unowned() ? context_.comm.max(had) : 0;
}

// A rank with bad arguments leaves fill values, as what it should have written.
void IoRankPath::write_map(const Transfer& transfer) {
  Rearranger& rearranger = rearrangers_->of(transfer.decomposition);
  const int v = transfer.variable;
  const VariableDef& definition = context_.variable(v);
  const Status writable = transfer.decomposition->writable();
  if (!writable.ok()) return output_.keep(writable, v);
  const std::int64_t kept = kept_records(transfer);
  const bool of_records = context_.schema.has_record(v);
  const bool keeps = !parts_at(transfer.region, kept, of_records).first.empty();
  if (keeps) output_.keep(caught([&] { file_.complete_pending(); }), v);
  output_.begin({v, transfer.region, false, context_.keeps_unowned(transfer)});
  ++context_.counters.fields_written;
  const auto gaps = keeps ? output_.gaps_before(transfer, true) : std::vector<Box>{};
  output_.records().add(context_.schema, v, transfer.region);
  const Bytes fill = stored_fill(definition, output_.stored(v).swapped);
  const auto buffer = [&](std::size_t bytes) {
    std::byte* cells = nullptr;
    output_.keep(caught([&] { cells = output_.buffer_for_cells(bytes); }), v);
    return cells;
  };
  Rearranger::UsePiece load_piece;
  bool loaded = true;  // the piece that is stored next, where cells must stay
  if (keeps)
    load_piece = [&](const Box& piece, std::byte* cells) {
      const Timer read_timer(context_.counters.read);
      const auto [there, added] = parts_at(piece, kept, of_records);
      const Status status = caught([&, there = there] { output_.load(v, there, cells, false); });
      const auto size = static_cast<std::int64_t>(fill.size());
      for (const Box& gap : within_region(gaps, there)) {
        std::byte* to = cells;
        for (int d = 0; d < gap.rank(); ++d)
          to += (gap.first[d] - there.first[d]) * byte_strides(there.count, fill.size())[d];
        fill_box(to, byte_strides(there.count, fill.size()), gap.count, fill.data(), fill.size());
      }
      if (!added.empty()) {
        fill_box(cells + there.cells() * size, {size}, {added.cells()}, fill.data(), fill.size());
      }
      loaded = status.ok();
      output_.keep(status, v);
    };
  const auto store_piece = [&](const Box& piece, const std::byte* cells) {
    const Timer store_timer(context_.counters.store);
    output_.store(v, loaded ? piece : no_cells(piece.rank()), cells);
    context_.counters.bytes_written += piece.cells() * static_cast<std::int64_t>(size_of(definition.type));
  };
  const Seconds begin = now();
  const Seconds storing = context_.counters.store;
  ConversionErrors conversion_errors;
  output_.keep(caught([&] {
                 conversion_errors = rearranger.write(transfer, output_.stored(v), fill.data(),
                                                      {alignment(v)}, {buffer, load_piece, store_piece});
               }),
               v);
  context_.counters.pack += now() - begin - (context_.counters.store - storing);
  rearrangers_->count_messages(context_.counters);
  if (conversion_errors.count > 0)
    output_.keep(mapped_conversion_status(transfer, definition, conversion_errors, true), v);
}

Status IoRankPath::read_map(const Transfer& transfer, bool overlapping) {
  Rearranger& rearranger = rearrangers_->of(transfer.decomposition);
  const int v = transfer.variable;
  const VariableDef& definition = context_.variable(v);
  Status status = caught([&] { file_.complete_pending(); });
  const auto buffer = [&](std::size_t bytes) {
    std::byte* cells = nullptr;
    status.merge(caught([&] { cells = buffer_.of(bytes); }));
    return cells;
  };
  const auto load_piece = [&](const Box& piece, std::byte* cells) {
    const Timer read_timer(context_.counters.read);
    status.merge(caught([&] { output_.load(v, piece, cells, overlapping); }));
    context_.counters.bytes_read += piece.cells() * static_cast<std::int64_t>(size_of(definition.type));
  };
  const Seconds begin = now();
  const Seconds loaded = context_.counters.read;
  ConversionErrors conversion_errors;
  status.merge(caught([&] {
    conversion_errors =
        rearranger.read(transfer, output_.stored(v), {alignment(v)}, {buffer, load_piece, {}});
  }));
  context_.counters.unpack += now() - begin - (context_.counters.read - loaded);
  rearrangers_->count_messages(context_.counters);
  if (conversion_errors.count > 0)
    status.merge(mapped_conversion_status(transfer, definition, conversion_errors, false));
  return named(status, definition.name);
}

}  // namespace shoal
