// SPDX-License-Identifier: BSD-3-Clause
#include "driver/library/library_driver.hpp"

#include <algorithm>
#include <utility>

#include "codec/convert.hpp"
#include "driver/file/shared_file.hpp"
#include "driver/protocol/call_hash.hpp"
#include "driver/protocol/call_matching.hpp"
#include "driver/protocol/root_values.hpp"
#include "format/format_traits.hpp"
#include "pack/pieces.hpp"

namespace shoal {

namespace {

/// Could both cut one variable?
bool end_alike(const Dims& a, const Dims& b) {
  const int common = std::min(a.size(), b.size());
  return tail(a, common) == tail(b, common);
}

}  // namespace

LibraryDriver::LibraryDriver(const Comm& comm, const std::string& path, OpenMode mode, Format format,
                             const DriverOptions& options, LibraryOpener* open)
    : context_(comm, path, mode, format, options, counters_),
      file_(open(context_)),
      output_(context_, *file_, packed_),
      io_ranks_(context_, *file_, output_, packed_) {
  if (output_.traits().root_alone) return;
  const Timer timer(counters_.open);
  warn_of_sharing();
  output_.watch_device();
}

void LibraryDriver::warn_of_sharing() {
  if (!context_.writable() || context_.comm.size() == 1) return;
  FileSystem& where = context_.file_system;
  const bool is_gluster = where.type == "glusterfs";  // whose caches are as each node mounted it
  if (!is_gluster && sharing_warning(where, true).empty()) return;
  const Nodes nodes(context_.comm, context_.options.rearranging.ranks_per_node);
  if (nodes.single()) return;
  where =
      as_nodes_have_it(context_.comm, nodes, context_.path, where, context_.options.system.find_file_system);
  const std::string warning = sharing_warning(where, true);
  if (!warning.empty()) counters_.warnings.push_back(warning);
}

// Libraries move data within the file, and one that is killed then is lost: Shoal looks before they do.
bool LibraryDriver::has_place(const Schema& wanted) {
  if (!traits_of(context_.schema.format).is_classic || context_.schema.variables.empty()) return true;
  return value_of_root(context_.comm, [&] { return file_->has_place(wanted); });
}

void LibraryDriver::define(const Schema& wanted, const Cuts& /*cuts*/) {
  const Timer timer(counters_.define);
  Schema& schema = context_.schema;
  auto& placements = context_.placements;
  output_.state().change();
  context_.comm.agree_or_throw(output_.find_free_space(wanted, 0, 0));
  context_.comm.agree_or_throw(caught([&] { file_->extend(wanted, placements); }));
  auto lengths = schema.dims;
  schema = wanted;
  schema.changes.clear();
  for (std::size_t d = 0; d < lengths.size(); ++d)
    schema.dims[d].length = lengths[d].length;
  file_->describe(schema, placements);
  while (placements.size() < schema.variables.size())
    placements.push_back(of_library(schema.shape(static_cast<int>(placements.size()))));
  output_.records().add_variables(schema);
}

void LibraryDriver::prepare(const std::shared_ptr<const Decomposition>& decomposition) {
  io_ranks_.prepare(decomposition);
  if (decomposition->map() != nullptr || unowned_.find(decomposition.get()) != nullptr) return;
  std::vector<Box> unowned;
  if (context_.writable()) share_value(context_.comm, unowned = decomposition->unowned());
  for (const auto& other : unowned_)
    cells_change_owners_ =
        cells_change_owners_ || end_alike(other.decomposition->global(), decomposition->global());
  unowned_.add(decomposition, std::move(unowned));
}

void LibraryDriver::write(const Transfer& transfer) {
  const Timer timer(counters_.write_calls);
  const Schema& schema = context_.schema;
  CollectiveState& state = output_.state();
  RecordState& records = output_.records();
  state.change();
  const int v = transfer.variable;
  const bool together = meets_in_writes();
  const auto bytes = transfer.region.cells() * static_cast<std::int64_t>(size_of(context_.variable(v).type));
  state.log().note(CallLog::Verb::wrote, v, transfer.region);
  if (together) {
    const bool grows = schema.has_record(v) && transfer.region.end(0) > schema.shape(v)[0];
    const Status space = output_.find_free_space(schema, bytes, grows ? bytes : 0);
    const Status match = match_field_call(context_.comm, "writes", v, transfer.region, space, nullptr,
                                          nullptr, [this] { return output_.different_calls(); });
    if (!match.ok()) return lose_write(match);
  }
  output_.keep(transfer.refused.why, v);
  state.note_call(hash_of_call(v, transfer.region));
  if (io_ranks_.takes(transfer)) return io_ranks_.write(transfer);
  const std::int64_t had = records.written_records(schema, v);
  records.note_write(schema, v, transfer.region);
  // A rank with bad arguments leaves fill values, as what it should have written.
  Box box = transfer.refused ? own_cells(transfer) : transfer.mine;
  output_.begin({v, transfer.region, false, context_.keeps_unowned(transfer)});
  const std::byte* cells = nullptr;
  const Status packed = caught([&] { cells = packed_cells(transfer, box); });
  output_.keep(packed, v);
  if (!packed.ok()) box = no_cells(box.rank());
  ++counters_.fields_written;
  const auto gaps = output_.gaps_before(transfer, together);
  records.add(context_.schema, v, transfer.region);
  if (transfer.decomposition->owned_cells() > 0) {
    const Timer store_timer(counters_.store);
    in_pieces(v, transfer.region, box, together,
              [&](const Box& piece, std::int64_t at) { output_.store(v, piece, cells + at); });
  }
  counters_.bytes_written += box.cells() * static_cast<std::int64_t>(size_of(context_.variable(v).type));
  const auto* unowned = unowned_.find(transfer.decomposition.get());
  if (unowned != nullptr && !unowned->empty()) output_.fill_unowned(transfer, *unowned, had, gaps, together);
}

// The cells of the box as the file's type, row-major: in the model's own array, where they are so already.
const std::byte* LibraryDriver::packed_cells(const Transfer& transfer, const Box& box) {
  const VariableDef& definition = context_.variable(transfer.variable);
  const bool good = !transfer.refused;
  if (box.empty()) return nullptr;
  const Element as_stored = output_.stored(transfer.variable);
  if (good && !as_stored.swapped && !output_.traits().changes_cells && !is_masked(transfer) &&
      !transfer.rounding)
    if (const std::byte* const cells = transfer.array.host_cells_as(definition.type)) return cells;
  const Timer pack_timer(counters_.pack);
  const auto size = static_cast<std::int64_t>(as_stored.size);
  std::byte* packed = output_.buffer_for_cells(static_cast<std::size_t>(box.cells() * size));
  const Bytes fill = stored_fill(definition, as_stored.swapped);
  if (good) {
    const ConversionErrors conversion_errors =
        pack_cells(transfer, box, packed, byte_strides(box.count, as_stored.size),
                   to_stored(transfer, as_stored), fill.data());
    if (conversion_errors.count > 0)
      output_.keep(conversion_status(transfer, definition, conversion_errors, box, true), transfer.variable);
  } else {
    fill_box(packed, {size}, {box.cells()}, fill.data(), fill.size());
  }
  return packed;
}

template <class Visit>
void LibraryDriver::in_pieces(int v, const Box& region, const Box& box, bool together, Visit&& visit) const {
  const auto size = static_cast<std::int64_t>(size_of(context_.variable(v).type));
  const std::int64_t most_cells = output_.traits().most_bytes / size;
  if (region.cells() <= most_cells) return visit(box, 0);
  std::vector<Box> pieces;
  for_each_part(box, most_cells, [&](const Box& part) { pieces.push_back(part); });
  auto calls = std::max<std::int64_t>(1, static_cast<std::int64_t>(pieces.size()));
  if (together) calls = context_.comm.max(calls);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(calls); ++i) {
    visit(i < pieces.size() ? pieces[i] : no_cells(box.rank()), at);
    if (i < pieces.size()) at += pieces[i].cells() * size;
  }
}

void LibraryDriver::read(const Transfer& transfer) {
  const Timer timer(counters_.read_calls);
  const bool is_map = transfer.decomposition && transfer.decomposition->map() != nullptr;
  bool overlapping = !(is_map || transfer.mine.empty() || transfer.mine == own_cells(transfer));
  const Status match = match_field_call(context_.comm, "reads", transfer.variable, transfer.region,
                                        transfer.refused.why, nullptr, &overlapping);
  if (!match.ok()) throw Error(match);
  ++counters_.fields_read;
  context_.comm.agree_or_throw(io_ranks_.takes(transfer) ? io_ranks_.read(transfer, overlapping)
                                                         : read_box(transfer, overlapping));
}

Status LibraryDriver::read_box(const Transfer& transfer, bool overlapping) {
  const int v = transfer.variable;
  const VariableDef& definition = context_.variable(v);
  const Box& box = transfer.mine;
  const Element as_stored = output_.stored(v);
  Status status = caught([&] { file_->complete_pending(); });
  std::byte* cells = as_stored.swapped || leaves_masked(transfer) || box.empty()
                         ? nullptr
                         : transfer.array.host_cells_as(definition.type);
  const bool direct = cells != nullptr;
  const Status space = caught([&] {
    if (!direct) cells = packed_.of(bytes_of(box, size_of(definition.type)));
  });
  status.merge(space);
  {
    const Timer read_timer(counters_.read);
    in_pieces(v, transfer.region, space.ok() ? box : no_cells(box.rank()), true,
              [&](const Box& piece, std::int64_t at) {
                status.merge(caught([&] { output_.load(v, piece, cells + at, overlapping); }));
              });
  }
  counters_.bytes_read += box.cells() * static_cast<std::int64_t>(size_of(definition.type));
  if (status.ok() && !direct && !box.empty()) {
    const Timer unpack_timer(counters_.unpack);
    const ConversionErrors conversion_errors =
        unpack_cells(transfer, cells, byte_strides(box.count, as_stored.size), box,
                     find_conversion(as_stored, in_memory(transfer)));
    if (conversion_errors.count > 0)
      status = conversion_status(transfer, definition, conversion_errors, box, false);
  }
  return named(status, definition.name);
}

// In a write that ranks do not match, the others find at the next sync that this rank left it out.
void LibraryDriver::refuse(const RefusedCall& call) {
  using Kind = RefusedCall::Kind;
  const Comm& comm = context_.comm;
  CollectiveState& state = output_.state();
  if (call.kind == Kind::read) throw Error(match_refused_call(comm, "reads", call.why));
  if (call.kind == Kind::get) throw Error(match_refused_call(comm, "gets", call.why));
  state.change();
  if (call.kind == Kind::put) {
    state.log().note(CallLog::Verb::put, call.variable, {});
    const Status match = match_refused_call(comm, "puts", call.why);
    return call.variable ? output_.keep(match, *call.variable) : output_.keep(match);
  }
  const Timer timer(counters_.write_calls);
  if (meets_in_writes()) return lose_write(match_refused_call(comm, "writes", call.why));
  state.skip();
  lose_write(call.why);
}

void LibraryDriver::lose_write(const Status& why) {
  if (output_.state().has_skipped()) output_.records().lose_reach();
  output_.keep(why);
}

void LibraryDriver::put(int v, const Box& box, const std::byte* values,
                        const std::vector<std::string>& strings) {
  output_.state().change();
  Box region = box;  // others than rank 0 may only guess
  output_.state().log().note(CallLog::Verb::put, v, {});
  const Status match = match_field_call(context_.comm, "puts", v, {}, {}, &region, nullptr,
                                        [this] { return output_.different_calls(); });
  if (!match.ok()) return output_.keep(match, v);
  const Box mine = context_.is_root() ? box : no_cells(box.rank());
  const Timer timer(counters_.store);
  output_.records().note_write(context_.schema, v, region);
  output_.begin({v, region, true, context_.keeps_unowned(v)});
  output_.keep(caught([&] {
                 if (context_.variable(v).type == Type::string)
                   put_strings(v, mine, strings);
                 else
                   file_->store_replicated(v, mine, values);
               }),
               v);
  // The others' next write may be of the same cells, and shall come after this.
  if (!meets_in_writes() && context_.variable(v).distributed) context_.comm.barrier();
  output_.records().add(context_.schema, v, region);
}

void LibraryDriver::get(int v, const Box& box, std::byte* values, std::vector<std::string>& strings) {
  const Comm& comm = context_.comm;
  const Status match = match_field_call(comm, "gets", v, {}, {});
  if (!match.ok()) throw Error(match);
  const VariableDef& definition = context_.variable(v);
  const bool text = definition.type == Type::string;
  const bool all = context_.options.reading.all_read && !text;
  Status outcome = caught([&] { file_->complete_pending(); });
  outcome.merge(caught([&] {
    const Timer timer(counters_.read);
    if (!text)
      output_.load_replicated(v, context_.is_root() || all ? box : no_cells(box.rank()), values, all);
    else if (context_.is_root())
      strings = get_strings(v, box);
  }));
  comm.agree_or_throw(named(outcome, definition.name));
  if (!all) share_values(comm, definition.type, box, values, strings);
}

void LibraryDriver::put_strings(int v, const Box& box, const std::vector<std::string>& values) {
  if (output_.traits().holds_strings) return file_->store_strings(v, box, values);
  throw Error(Code::not_supported,
              "variable '{}' holds strings, which this driver's library cannot write in parallel; write it "
              "with driver native or gather, or as char",
              context_.variable(v).name);
}

std::vector<std::string> LibraryDriver::get_strings(int v, const Box& box) {
  if (output_.traits().holds_strings) return file_->load_strings(v, box);
  const DriverOptions& options = context_.options;
  auto catalog = open_catalog(context_.path, options.system.open_store, false, options.catalog);
  return catalog->get_strings(catalog->schema().find_variable(context_.variable(v).name), box);
}

void LibraryDriver::finish(bool durable, bool closing) {
  CollectiveState& state = output_.state();
  const bool on_device = context_.writable() && (durable || context_.must_flush());
  const bool was_incomplete = state.file() == FileState::incomplete;
  const bool written_nothing = state.is_settled();
  state.begin_commit();
  Status brought;
  if (context_.writable()) {
    const bool any_skipped = output_.compare();
    if (!output_.traits().fills) output_.fill_gaps(any_skipped);
    brought = caught([&] { file_->commit(on_device, closing); });
  }
  if (closing) brought.merge(caught([&] { file_->close(on_device); }));
  // What a sync reported is still so at close, where the library tries again; nobody needs to hear it twice.
  if (!(closing && was_incomplete && written_nothing)) output_.keep(brought);
  output_.keep_damage();
  Status outcome = context_.comm.agree(state.deferred());
  const Status mine = state.take_deferred();
  // Values that did not fit were left out; all else is there.
  const bool failed = !brought.ok() || loses_bytes(mine);
  bool is_whole = (outcome.ok() && !was_incomplete) || context_.comm.max(std::int64_t{failed ? 1 : 0}) == 0;
  outcome = output_.check_stored(outcome);
  is_whole = is_whole && !loses_bytes(outcome);
  state.end_commit(is_whole ? FileState::whole : FileState::incomplete);
  state.complete_pending();
  if (!outcome.ok()) throw Error(outcome);
}

void LibraryDriver::sync(bool durable) {
  const Timer timer(counters_.commit);
  ++counters_.commits;
  finish(durable, false);
}

void LibraryDriver::close(bool durable) {
  const Timer timer(counters_.close);
  finish(durable, true);
}

}  // namespace shoal
