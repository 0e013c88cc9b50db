// SPDX-License-Identifier: BSD-3-Clause
#include "driver/box_driver.hpp"

#include <algorithm>
#include <utility>

#include "codec/convert.hpp"
#include "driver/call_matching.hpp"
#include "driver/shared_file.hpp"
#include "pack/pieces.hpp"
#include "storage/holes.hpp"
#include "storage/journal.hpp"

namespace shoal {

namespace {

constexpr std::int64_t k_fill_bytes = 4 * 1024 * 1024;  // of fill values in one call

Box nothing(int rank) {
  return {Dims(rank), Dims(rank)};
}

bool same(const Attribute& a, const Attribute& b) {
  return a.type == b.type && a.data == b.data && a.strings == b.strings;
}

// Of each variable: may it have chunks that were never given a place in the file?
std::vector<char> holes_in(Catalog& catalog) {
  std::vector<char> holes;
  for (int v = 0; v < static_cast<int>(catalog.schema().variables.size()); ++v) {
    const Placement where = catalog.placement(v);
    bool any =
        where.kind == Placement::Kind::library || where.kind == Placement::Kind::encoded;  // not reported
    const bool asks = where.kind == Placement::Kind::listed ||
                      (where.kind == Placement::Kind::regular && where.begin == k_unplaced);
    if (asks) {
      const Box all = chunks_of(Box::whole(catalog.schema().shape(v)), where.chunk);
      const auto found = all.empty() ? std::vector<std::uint64_t>{} : catalog.find(v, all);
      any = any || std::find(found.begin(), found.end(), k_unplaced) != found.end();
    }
    holes.push_back(any ? 1 : 0);
  }
  return holes;
}

}  // namespace

BoxDriver::BoxDriver(const Comm& comm, std::string path, OpenMode mode, Format format,
                     const DriverOptions& options)
    : comm_(comm),
      path_(std::move(path)),
      options_(options),
      writable_(mode != OpenMode::read),
      fresh_(mode == OpenMode::create || mode == OpenMode::create_exclusive),
      state_(comm.rank()) {
  schema_.format = format;
  counters_.warnings = options.warnings;
  check_io_ranks(comm, options);
  const Bytes header = comm_.from_root([&] {
    ByteWriter out;
    if (fresh_) {
      pack(out, schema_);
      out.put(std::vector<Placement>{});
      out.put(std::vector<char>{});
    } else {
      if (writable_) {  // before a library opens it that knows nothing of journals
        const auto store = options_.open_store(path_, StoreMode::write);
        finish_changes(*store);
        store->close();
      }
      auto catalog = open_catalog(options_.open_store(path_, StoreMode::read), false, options_.catalog);
      std::vector<Placement> placements;
      for (int v = 0; v < static_cast<int>(catalog->schema().variables.size()); ++v)
        placements.push_back(catalog->placement(v));
      pack(out, catalog->schema());
      out.put(placements);
      out.put(holes_in(*catalog));
      catalog->close(false);
    }
    pack(out, options_.find_file_system(path_));
    return out.take();
  });
  ByteReader in(header);
  schema_ = unpack_schema(in);
  in.get(placements_);
  in.get(holes_);
  where_ = unpack_file_system(in);
  counters_.file_system = where_.type;
  records_.start(schema_);
}

void BoxDriver::stripe_by_hints() {
  if (fresh_) add_stripe_hints(options_, where_, counters_.warnings);
}

void BoxDriver::warn_of_sharing() {
  if (!writable_ || comm_.size() == 1) return;
  const bool is_gluster = where_.type == "glusterfs";  // whose caches are as each node mounted it
  if (!is_gluster && sharing_warning(where_, true).empty()) return;
  const Nodes nodes(comm_, options_.ranks_per_node);
  if (nodes.single()) return;
  where_ = as_nodes_have_it(comm_, nodes, path_, where_, options_.find_file_system);
  const std::string warning = sharing_warning(where_, true);
  if (!warning.empty()) counters_.warnings.push_back(warning);
}

void BoxDriver::watch_device(bool reports_to_nobody) {
  using Sharing = FileSystem::Sharing;
  if (!writable_ || (where_.sharing != Sharing::local && where_.sharing != Sharing::coherent)) return;
  device_.emplace(path_, options_.find_free_space, reports_to_nobody && reports_holes(where_.type));
  reports_to_nobody_ = reports_to_nobody;
}

// On rank 0; the others hear of it in the next match.
Status BoxDriver::find_free_space(const Schema& schema, std::int64_t more, std::int64_t new_cells) {
  if (!device_ || comm_.rank() != 0) return {};
  return caught([&] { device_->expect(schema, more, new_cells); });
}

void BoxDriver::require_format(const char* driver, std::initializer_list<Format> held) const {
  if (std::find(held.begin(), held.end(), schema_.format) != held.end()) return;
  std::string names;
  for (const auto format : held)
    names += (names.empty() ? "" : ", ") + std::string(name_of(format));
  throw Error(Code::not_supported, "the file is of format " + std::string(name_of(schema_.format)) +
                                       ", and driver " + driver + " reads and writes only " + names +
                                       "; open it with driver native");
}

void BoxDriver::define(const Schema& wanted, const Cuts& /*cuts*/) {
  const Timer timer(counters_.define);
  state_.change();
  comm_.agree_or_throw(find_free_space(wanted, 0, 0));
  comm_.agree_or_throw(caught([&] { extend(wanted); }));
  auto lengths = schema_.dims;
  schema_ = wanted;
  for (std::size_t d = 0; d < lengths.size(); ++d)
    schema_.dims[d].length = lengths[d].length;
  describe(schema_);
  while (placements_.size() < schema_.variables.size()) {
    Placement unknown;
    unknown.kind = Placement::Kind::library;
    unknown.chunk = schema_.shape(static_cast<int>(placements_.size()));
    placements_.push_back(unknown);
  }
  records_.add_variables(schema_);
}

void BoxDriver::prepare(const std::shared_ptr<const Decomposition>& decomposition) {
  if (decomposition->map() != nullptr || asks_for_boxes(options_)) {
    rearranged(decomposition);
    if (decomposition->map() != nullptr) return;
  }
  Kept kept{decomposition, {}};
  if (writable_) {
    ByteWriter out;
    out.put(decomposition->unowned());
    Bytes message = out.take();
    comm_.broadcast(message, 0);
    ByteReader(message).get(kept.unowned);
  }
  decompositions_.push_back(std::move(kept));
}

void BoxDriver::keep(Status status, int v) {
  if (!status.ok() && status.variable.empty() && v >= 0) status.variable = variable(v).name;
  state_.defer(std::move(status));
}

void BoxDriver::begin_storing(int v, const Box& region, bool replicated) {
  if (device_ && comm_.rank() == 0 && !keeps_unowned(v)) device_->note(schema_, v, region);
  keep(caught([&] { about_to_store(v, region, replicated); }), v);
}

void BoxDriver::keep_damage() {
  const Status first = damage();
  state_.defer_lasting(
      first,
      "the file is not whole, and nothing that is written later mends it, since the library "
      "failed to write (" +
          first.message +
          "): write the file anew, or with driver native, which goes on when there is room again");
}

void BoxDriver::write(const Transfer& transfer) {
  const Timer timer(counters_.write_calls);
  state_.change();
  const int v = transfer.variable;
  const bool together = stores_together() || !maps_.empty();  // cells of maps go from rank to rank
  Status known = transfer.status;
  if (v >= 0) {
    const auto bytes = transfer.region.cells() * static_cast<std::int64_t>(size_of(variable(v).type));
    const bool grows = schema_.has_record(v) && transfer.region.end(0) > schema_.shape(v)[0];
    known = together ? find_free_space(schema_, bytes, grows ? bytes : 0) : Status{};
  }
  if (v >= 0) state_.log().note(CallLog::Verb::wrote, v, transfer.region);
  const Status match = together
                           ? match_field_call(comm_, "writes", v, transfer.region, known, nullptr, nullptr,
                                              [this] { return state_.log().difference(comm_, schema_); })
                           : known;
  if (!match.ok()) {
    if (!together) state_.skip();
    if (state_.has_skipped()) records_.lose_reach();
    return keep(match, -1);
  }
  keep(transfer.status, v);
  state_.note_call(hash_of_call(v, transfer.region));
  if (rearranges(transfer)) return write_tiles(transfer);
  const std::int64_t had = records_.written_records(schema_, v);
  records_.note_write(schema_, v, transfer.region);
  // A rank with bad arguments leaves fill values, as what it should have written.
  Box box = transfer.status.ok() ? transfer.mine : own_cells(transfer);
  begin_storing(v, transfer.region, false);
  const std::byte* cells = nullptr;
  const Status packed = caught([&] { cells = packed_cells(transfer, box); });
  keep(packed, v);
  if (!packed.ok()) box = nothing(box.rank());
  ++counters_.fields_written;
  records_.add(schema_, v, transfer.region);
  if (transfer.decomposition->owned_cells() > 0) {
    const Timer store_timer(counters_.store);
    in_pieces(v, transfer.region, box, together, [&](const Box& piece, std::int64_t at) {
      keep(caught([&] { store(v, piece, cells + at); }), v);
    });
  }
  counters_.bytes_written += box.cells() * static_cast<std::int64_t>(size_of(variable(v).type));
  fill_unowned(transfer, had, together);
}

// The cells of the box as the file's type, row-major: in the model's own array, where they are so already.
const std::byte* BoxDriver::packed_cells(const Transfer& transfer, const Box& box) {
  const VariableDef& definition = variable(transfer.variable);
  const bool good = transfer.status.ok();
  if (box.empty()) return nullptr;
  const Element as_stored = stored(transfer.variable);
  if (good && !as_stored.swapped && !changes_cells() && !is_masked(transfer) && !transfer.rounding &&
      is_contiguous(transfer.array, definition.type))
    return transfer.array.data;
  const Timer pack_timer(counters_.pack);
  const auto size = static_cast<std::int64_t>(as_stored.size);
  std::byte* packed = buffer_for_cells(static_cast<std::size_t>(box.cells() * size));
  const Bytes fill = stored_fill(definition, as_stored.swapped);
  if (good) {
    const ConversionErrors conversion_errors =
        pack_cells(transfer, box, packed, byte_strides(box.count, as_stored.size),
                   to_stored(transfer, as_stored), fill.data());
    if (conversion_errors.count > 0)
      keep(conversion_status(transfer, definition, conversion_errors, box, true), transfer.variable);
  } else {
    fill_box(packed, {size}, {box.cells()}, fill.data(), fill.size());
  }
  return packed;
}

template <class Visit>
void BoxDriver::in_pieces(int v, const Box& region, const Box& box, bool together, Visit&& visit) {
  const auto size = static_cast<std::int64_t>(size_of(variable(v).type));
  if (region.cells() <= most_bytes() / size) return visit(box, 0);
  Dims everything = box.count;
  for (int d = 0; d < everything.size(); ++d)
    everything[d] = box.end(d);
  std::vector<Box> pieces;
  for_each_piece({box}, everything, most_bytes() / size,
                 [&](const Piece& piece) { pieces.push_back(piece.cells); });
  auto calls = std::max<std::int64_t>(1, static_cast<std::int64_t>(pieces.size()));
  if (together) calls = comm_.max(calls);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(calls); ++i) {
    visit(i < pieces.size() ? pieces[i] : nothing(box.rank()), at);
    if (i < pieces.size()) at += pieces[i].cells() * size;
  }
}

// had: so many records (of a variable without: one) were there before. Those may have cells to keep; in the
// others the library may have filled all cells itself, but makes none where nobody stores any.
void BoxDriver::fill_unowned(const Transfer& transfer, std::int64_t had, bool together) {
  const int v = transfer.variable;
  const auto kept = std::find_if(decompositions_.begin(), decompositions_.end(),
                                 [&](const Kept& k) { return k.decomposition == transfer.decomposition; });
  if (kept == decompositions_.end() || kept->unowned.empty()) return;
  if (together && (fills() || keeps_unowned(v))) had = comm_.max(had);  // who missed a call knows less
  const auto [before, added] = parts_at(transfer.region, had, schema_.has_record(v));
  std::vector<Box> boxes;
  if (!keeps_unowned(v)) boxes = within_region(kept->unowned, before);
  if (fills() ? transfer.decomposition->owned_cells() == 0 : !variable(v).no_fill) {
    const auto more = within_region(kept->unowned, added);
    boxes.insert(boxes.end(), more.begin(), more.end());
  }
  for (const auto& box : boxes)
    if (!box.empty()) fill_box_of(v, box, false);
}

// By rank 0; the others take part with nothing.
void BoxDriver::fill_box_of(int v, const Box& box, bool replicated) {
  const Bytes fill = stored_fill(variable(v), !replicated && stored(v).swapped);
  const auto size = static_cast<std::int64_t>(fill.size());
  Dims everything = box.count;
  for (int d = 0; d < everything.size(); ++d)
    everything[d] = box.end(d);
  Bytes values;
  for_each_piece({box}, everything, k_fill_bytes / size, [&](const Piece& piece) {
    const bool mine = comm_.rank() == 0;
    if (mine) {
      values.resize(static_cast<std::size_t>(piece.cells.cells() * size));
      fill_box(values.data(), {size}, {piece.cells.cells()}, fill.data(), fill.size());
    }
    const Box here = mine ? piece.cells : nothing(box.rank());
    keep(caught([&] {
           if (replicated)
             store_replicated(v, here, values.data());
           else
             store(v, here, values.data());
         }),
         v);
  });
}

void BoxDriver::fill_gaps(bool any_skipped) {
  const auto found = gaps(any_skipped);
  if (found.empty()) return;
  if (const Status space = comm_.agree(find_free_space(schema_, 0, 0)); !space.ok()) return keep(space, -1);
  for (const auto& gap : found) {
    const bool replicated = !variable(gap.variable).distributed;
    begin_storing(gap.variable, gap.cells, replicated);
    fill_box_of(gap.variable, gap.cells, replicated);
  }
}

// Where ranks match no calls in write, one that skipped a call knows less of what was written: then those of
// a rank that skipped nothing count, and if there is none, nothing is filled, lest cells of others are lost.
std::vector<RecordFillTracker::Gap> BoxDriver::gaps(bool any_skipped) {
  if (!any_skipped) return records_.take_gaps(schema_);
  const std::int64_t who = comm_.min(std::int64_t{state_.has_skipped() ? comm_.size() : comm_.rank()});
  std::vector<RecordFillTracker::Gap> found;
  if (who < comm_.size()) {
    ByteWriter out;
    if (comm_.rank() == who) out.put(records_.take_gaps(schema_));
    Bytes message = out.take();
    comm_.broadcast(message, static_cast<int>(who));
    ByteReader(message).get(found);
  }
  records_.start(schema_);
  return found;
}

void BoxDriver::read(const Transfer& transfer) {
  const Timer timer(counters_.read_calls);
  const int v = transfer.variable;
  const bool is_map = transfer.decomposition && transfer.decomposition->map() != nullptr;
  overlapping_ = !(is_map || transfer.mine.empty() || transfer.mine == own_cells(transfer));
  const Status match =
      match_field_call(comm_, "reads", v, transfer.region, transfer.status, nullptr, &overlapping_);
  if (!match.ok()) throw Error(match);
  const VariableDef& definition = variable(v);
  ++counters_.fields_read;
  if (rearranges(transfer)) return comm_.agree_or_throw(read_tiles(transfer));
  const Box& box = transfer.mine;
  const Element as_stored = stored(v);
  const bool direct = !as_stored.swapped && !leaves_masked(transfer) &&
                      is_contiguous(transfer.array, definition.type) && !box.empty();
  Status status = caught([&] { complete_pending(); });
  std::byte* cells = transfer.array.data;
  const Status space = caught([&] {
    if (!direct) cells = packed_.of(static_cast<std::size_t>(box.cells()) * size_of(definition.type));
  });
  status.merge(space);
  {
    const Timer read_timer(counters_.read);
    in_pieces(v, transfer.region, space.ok() ? box : nothing(box.rank()), true,
              [&](const Box& piece, std::int64_t at) {
                status.merge(caught([&] { load(v, piece, cells + at); }));
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
  if (!status.ok() && status.variable.empty()) status.variable = definition.name;
  comm_.agree_or_throw(status);
}

void BoxDriver::put(int v, const Box& box, const std::byte* values, const std::vector<std::string>& strings,
                    const Status& status) {
  const bool root = comm_.rank() == 0;
  state_.change();
  Box region = box;  // others than rank 0 may only guess
  state_.log().note(CallLog::Verb::put, v, {});
  const Status match = match_field_call(comm_, "puts", v, {}, status, &region, nullptr,
                                        [this] { return state_.log().difference(comm_, schema_); });
  if (!match.ok()) return keep(match, v);
  const Box mine = root ? box : nothing(box.rank());
  const Timer timer(counters_.store);
  records_.note_write(schema_, v, region);
  begin_storing(v, region, true);
  keep(caught([&] {
         if (variable(v).type == Type::string)
           store_strings(v, mine, strings);
         else
           store_replicated(v, mine, values);
       }),
       v);
  records_.add(schema_, v, region);
}

void BoxDriver::get(int v, const Box& box, std::byte* values, std::vector<std::string>& strings,
                    const Status& status) {
  const Status match = match_field_call(comm_, "gets", v, {}, status);
  if (!match.ok()) throw Error(match);
  const bool root = comm_.rank() == 0;
  const bool text = variable(v).type == Type::string;
  const bool all = options_.all_read && !text;
  Status outcome = caught([&] { complete_pending(); });
  outcome.merge(caught([&] {
    const Timer timer(counters_.read);
    if (!text)
      load_replicated(v, root || all ? box : nothing(box.rank()), values, all);
    else if (root)
      strings = load_strings(v, box);
  }));
  if (!outcome.ok() && outcome.variable.empty()) outcome.variable = variable(v).name;
  comm_.agree_or_throw(outcome);
  if (all) return;
  if (!text)
    return comm_.broadcast(values, box.cells() * static_cast<std::int64_t>(size_of(variable(v).type)), 0);
  ByteWriter out;
  out.put(strings);
  Bytes message = out.take();
  comm_.broadcast(message, 0);
  ByteReader(message).get(strings);
}

void BoxDriver::store_strings(int v, const Box& /*box*/, const std::vector<std::string>& /*values*/) {
  throw Error(
      Code::not_supported,
      "variable '" + variable(v).name +
          "' holds strings, which this driver's library cannot write in parallel; write it with driver "
          "native or gather, or as char");
}

std::vector<std::string> BoxDriver::load_strings(int v, const Box& box) {
  auto catalog = open_catalog(options_.open_store(path_, StoreMode::read), false, options_.catalog);
  return catalog->get_strings(catalog->schema().find_variable(variable(v).name), box);
}

// Did any rank skip a write?
bool BoxDriver::compare() {
  const Comparison found = state_.compared(comm_.max(state_.to_compare(lengths_of(schema_))));
  set_lengths(schema_, found.lengths);
  if (!found.same && !found.any_deferred) {
    int odd = 0;
    const std::string calls = state_.log().difference(comm_, schema_, &odd);
    keep(
        {Code::out_of_step,
         (calls.empty() ? "ranks wrote different variables or records, or some left calls out" : calls) +
             "; cells are missing since the last sync. Every rank must make the same calls in the same order",
         odd,
         {},
         {}},
        -1);
  }
  if (!found.same && !found.is_reference) state_.skip();
  return found.any_skipped || !found.same;
}

void BoxDriver::finish(bool durable, bool final) {
  closing_ = final;
  const bool was_incomplete = state_.file() == FileState::incomplete;
  const bool written_nothing = state_.is_settled();
  state_.begin_commit();
  Status brought;
  if (writable_) {
    const bool any_skipped = compare();
    if (!fills()) fill_gaps(any_skipped);
    brought = caught([&] { commit(durable || must_flush()); });
  }
  if (final) brought.merge(caught([&] { close_file(); }));
  // What a sync reported is still so at close, where the library tries again; nobody needs to hear it twice.
  if (!(final && was_incomplete && written_nothing)) keep(brought, -1);
  keep_damage();
  Status outcome = comm_.agree(state_.deferred());
  const Status mine = state_.take_deferred();
  // Values that did not fit were left out; all else is there.
  const bool failed = !brought.ok() || loses_bytes(mine);
  bool is_whole = (outcome.ok() && !was_incomplete) || comm_.max(std::int64_t{failed ? 1 : 0}) == 0;
  if (device_ && !outcome.ok()) device_->forget();
  if (outcome.ok() && reports_to_nobody_)
    outcome = caught([&] { comm_.on_root([&] { device_->check_stored(schema_, placements_); }); });
  is_whole = is_whole && !loses_bytes(outcome);
  state_.end_commit(is_whole ? FileState::whole : FileState::incomplete);
  state_.complete_pending();
  if (!outcome.ok()) throw Error(outcome);
}

void BoxDriver::sync(bool durable) {
  const Timer timer(counters_.commit);
  ++counters_.commits;
  finish(durable, false);
}

void BoxDriver::close(bool durable) {
  const Timer timer(counters_.close);
  finish(durable, true);
}

void for_each_new(const Schema& schema, const Schema& wanted, DefinitionVisitor& visitor) {
  for (std::size_t d = schema.dims.size(); d < wanted.dims.size(); ++d)
    visitor.dimension(static_cast<int>(d), wanted.dims[d]);
  const auto attributes = [&](int v, const std::vector<Attribute>& had, const std::vector<Attribute>& has) {
    for (const auto& attribute : has) {
      const Attribute* old = find_attribute(had, attribute.name);
      if (old == nullptr || !same(*old, attribute)) visitor.attribute(v, attribute);
    }
  };
  attributes(-1, schema.attributes, wanted.attributes);
  for (std::size_t v = 0; v < wanted.variables.size(); ++v) {
    const bool is_new = v >= schema.variables.size();
    if (is_new) visitor.variable(static_cast<int>(v), wanted.variables[v]);
    attributes(static_cast<int>(v), is_new ? std::vector<Attribute>{} : schema.variables[v].attributes,
               wanted.variables[v].attributes);
  }
}

}  // namespace shoal
