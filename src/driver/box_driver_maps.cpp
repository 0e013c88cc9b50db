// SPDX-License-Identifier: BSD-3-Clause
// Fields that are cut by maps: rearranged to boxes, which go the way of all others.
#include <algorithm>

#include "driver/box_driver.hpp"

namespace shoal {

namespace {

// Of messages that a rank has under way.
constexpr std::int64_t k_exchange_bytes = 64 * 1024 * 1024;

std::int64_t exchange_bytes(const DriverOptions& options) {
  return options.whole_stage ? std::min(k_exchange_bytes, options.stage_bytes) : k_exchange_bytes;
}

// Borders of chunks, if the variable has any.
Dims alignment_of(const VariableDef& definition, int dims) {
  return static_cast<int>(definition.chunks.size()) == dims ? Dims(definition.chunks) : Dims();
}

}  // namespace

Rearranger& BoxDriver::rearranger_of(const std::shared_ptr<const Decomposition>& decomposition) {
  const auto known = std::find_if(maps_.begin(), maps_.end(),
                                  [&](const Rearranged& r) { return r.decomposition == decomposition; });
  if (known != maps_.end()) return *known->rearranger;
  const auto io_ranks = sets_io_ranks(options_) ? choose_io_ranks(comm_, options_) : usual_io_ranks();
  counters_.writers = static_cast<int>(io_ranks.size());
  maps_.push_back({decomposition,
                   std::make_unique<Rearranger>(comm_, decomposition, io_ranks, exchange_bytes(options_))});
  return *maps_.back().rearranger;
}

// A rank with bad arguments leaves fill values, as what it should have written.
void BoxDriver::write_map(const Transfer& transfer) {
  const int v = transfer.variable;
  const VariableDef& definition = variable(v);
  const Status writable = transfer.decomposition->writable();
  if (!writable.ok()) return keep(writable, v);
  if (transfer.status.ok() && transfer.array.data == nullptr && !transfer.region.empty() &&
      !transfer.decomposition->map()->empty())
    keep({Code::not_supported, "cells of a map can only be written from an array", -1, {}, {}}, v);
  keep(caught([&] { about_to_store(v, transfer.region, false); }), v);
  ++counters_.fields_written;
  grow(v, transfer.region);
  records_.touch(schema_, v, transfer.region);
  const Bytes fill = fill_of(definition);
  const auto room = [&](std::size_t bytes) {
    std::byte* cells = nullptr;
    keep(caught([&] { cells = room_for_cells(bytes); }), v);
    return cells;
  };
  const auto store_piece = [&](const Box& piece, const std::byte* cells) {
    const Timer store_timer(counters_.store);
    keep(caught([&] { store(v, piece, cells); }), v);
    counters_.bytes_written += piece.cells() * static_cast<std::int64_t>(size_of(definition.type));
  };
  const Seconds begin = now();
  const Seconds stored = counters_.store;
  Misfits misfits;
  keep(caught([&] {
         misfits = rearranger_of(transfer.decomposition)
                       .write(transfer, {definition.type, size_of(definition.type), false}, fill.data(),
                              alignment_of(definition, transfer.region.rank()), room, store_piece);
       }),
       v);
  counters_.pack += now() - begin - (counters_.store - stored);
  if (misfits.count > 0) keep(mapped_misfit_status(transfer, definition, misfits, true), v);
}

Status BoxDriver::read_map(const Transfer& transfer) {
  const int v = transfer.variable;
  const VariableDef& definition = variable(v);
  Status status = caught([&] { settle(); });
  const auto room = [&](std::size_t bytes) {
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
  Misfits misfits;
  status.merge(caught([&] {
    misfits = rearranger_of(transfer.decomposition)
                  .read(transfer, {definition.type, size_of(definition.type), false},
                        alignment_of(definition, transfer.region.rank()), room, load_piece);
  }));
  counters_.unpack += now() - begin - (counters_.read - loaded);
  if (misfits.count > 0) status.merge(mapped_misfit_status(transfer, definition, misfits, false));
  if (!status.ok() && status.variable.empty()) status.variable = definition.name;
  return status;
}

}  // namespace shoal
