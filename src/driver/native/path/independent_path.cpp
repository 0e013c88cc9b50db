// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/path/independent_path.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/language.hpp"
#include "base/text.hpp"
#include "driver/protocol/root_values.hpp"
#include "format/format_traits.hpp"

namespace shoal {

namespace {

constexpr std::int64_t k_fill_part = 4 << 20;  // bytes that one rank fills before it is the next one's turn
constexpr std::size_t k_most_known = 1 << 16;  // addresses of chunks

std::int64_t element_size(const VariableDef& variable) {
  return static_cast<std::int64_t>(size_of(variable.type));
}

void pack(ByteWriter& out, const std::map<int, Box>& regions) {
  out.put(static_cast<std::uint64_t>(regions.size()));
  for (const auto& [v, box] : regions) {
    out.put(v);
    out.put(box);
  }
}

std::map<int, Box> unpack_regions(ByteReader& in) {
  std::map<int, Box> regions;
  const auto n = in.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < n; ++i) {
    const int v = in.get<int>();
    regions[v] = in.get<Box>();
  }
  return regions;
}

}  // namespace

// ---- Places

void IndependentPath::require_one_view_of_file() const {
  if (!context_.writable || context_.groups.single() || !context_.strategies.one_node_stores()) return;
  throw Error(Code::not_supported,
              "on this file system ({}) nodes do not see each other's writes to a file, so that ranks cannot "
              "write or read it alone; use the calls of all ranks (write, read, put, get)",
              context_.counters.file_system);
}

// What ranks wrote together may still be on its way to the file.
bool IndependentPath::is_pending(int v) const {
  return context_.state.may_have_pending(v) || context_.header.puts().called(v);
}

bool IndependentPath::is_placed_by_rule(int v) const {
  const Placement& where = context_.header.placement(v);
  return where.kind == Placement::Kind::regular && where.begin != k_unplaced;
}

// Where cells that no rank owns keep their values, a field that is written later keeps them only if all ranks
// know that there are some.
std::optional<Numbered<Location>> IndependentPath::place_of(int v, const Box& box) {
  const Schema& schema = context_.header.schema();
  const std::int64_t end = schema.has_record(v) ? box.end(0) : 1;
  const bool keeps = keeps_unowned(context_.options.catalog.fill, context_.header.variable(v));
  if (waiting_.has(v) || is_pending(v) || !context_.records.gaps_in(schema, v, box).empty() ||
      (keeps && context_.records.written_records(schema, v) < end))
    return std::nullopt;
  auto found = find(v, box);
  if (found && std::any_of(found->begin(), found->end(), [](const auto& at) { return !at.is_placed(); }))
    return std::nullopt;
  return found;
}

std::optional<Numbered<Location>> IndependentPath::find(int v, const Box& box) {
  if (is_placed_by_rule(v)) return Numbered<Location>{};
  const Box chunks = chunks_of(box, context_.header.placement(v).chunk);
  const auto& known = known_[v];
  Numbered<Location> addresses;
  bool all_known = true;
  for_each_index(chunks, [&](const Dims& index) {
    const auto at = known.find(index);
    addresses.push_back(at == known.end() ? k_nowhere : at->second);
    all_known = all_known && at != known.end();
  });
  if (all_known) return addresses;
  Numbered<Location> found;
  if (context_.header.on_owner()) {
    found = context_.header.catalog().find(v, chunks);
  } else {
    // The owner alone knows of chunks of fields since the last commit.
    if (context_.state.has_uncommitted(v)) return std::nullopt;
    if (v >= committed_variables_) return addresses;
    found = context_.header.reader().find(v, chunks);
  }
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i].is_placed()) addresses[i] = found[i];
  keep_addresses(v, chunks, addresses);
  return addresses;
}

void IndependentPath::keep_addresses(int v, const Box& chunks, const Numbered<Location>& addresses) {
  std::size_t i = 0;
  for_each_index(chunks, [&](const Dims& index) {
    const Location& at = addresses[i++];
    if (at.is_placed() && known_[v].insert_or_assign(index, at).second) ++known_count_;
  });
}

void IndependentPath::note_committed() {
  committed_variables_ = context_.header.schema().variables.count();
  // All of them can be read from the file now; drafts have other numbers.
  if (known_count_ > k_most_known || traits_of(context_.header.schema().format).holds_objects())
    forget_addresses();
}

void IndependentPath::forget_addresses() {
  known_.clear();
  known_count_ = 0;
}

void IndependentPath::for_each_run(int v, const Box& box, const Numbered<Location>& addresses,
                                   const std::function<void(const Extent&)>& visit) const {
  const Placement& where = context_.header.placement(v);
  const std::int64_t size = element_size(context_.header.variable(v));
  const Box chunks = chunks_of(box, where.chunk);
  ExtentMerger merger(visit);
  for_each_piece({box}, where.chunk, box.cells(), [&](const Piece& piece) {
    const Location address = addresses.empty() ? location_of(where, piece.chunk_index[0])
                                               : addresses[position_in(piece.chunk_index, chunks)];
    const Box whole = cells_of_chunk(piece.chunk_index, where.chunk);
    // From dimension `inner` on cells form one run, in the chunk and in memory.
    int inner = box.rank();
    std::int64_t run = size;
    while (inner > 0) {
      --inner;
      run *= piece.cells.count[inner];
      if (piece.cells.count[inner] != where.chunk[inner] || piece.cells.count[inner] != box.count[inner])
        break;
    }
    Box starts = piece.cells;
    for (int d = inner; d < starts.rank(); ++d)
      starts.count[d] = 1;
    for_each_index(starts, [&](const Dims& index) {
      const std::int64_t in_memory = position_in(index, box) * size;
      if (address.is_placed())
        return merger.add({address + position_in(index, whole) * size, in_memory, run});
      merger.flush();
      visit({k_nowhere, in_memory, run});
    });
  });
  merger.flush();
}

// ---- Writing

void IndependentPath::store(int v, const Box& box, const std::byte* cells) {
  require_one_view_of_file();
  if (box.empty()) return;
  if (const auto addresses = place_of(v, box)) return store_at(v, box, cells, *addresses);
  const VariableDef& variable = context_.header.variable(v);
  const auto size = size_of(variable.type);
  const std::int64_t most = context_.options.stage.bytes / context_.groups.node().size();
  const std::int64_t bytes = WaitingCells::bytes_of(box, size);
  if (bytes > most - waiting_.bytes())
    throw Error(
        Code::state,
        "the cells must wait in this rank's memory for the next sync, and with {} that wait already they "
        "would be {}, more than the {} that a rank has of the setting stage_bytes; call sync first (all "
        "ranks), "
        "say with def_independent when the variable is defined that ranks write it alone, or set stage_bytes "
        "to more",
        bytes_text(static_cast<double>(waiting_.bytes())),
        bytes_text(static_cast<double>(waiting_.bytes() + bytes)), bytes_text(static_cast<double>(most)));
  waiting_.add(v, box, cells, size);
  context_.state.change();
}

void IndependentPath::store_at(int v, const Box& box, const std::byte* cells,
                               const Numbered<Location>& addresses) {
  for_each_run(v, box, addresses, [&](const Extent& run) {
    context_.file.write(run.in_file, {cells + run.in_memory, static_cast<std::size_t>(run.bytes)});
  });
}

Status IndependentPath::supersede(int v, const Box& region, const Box& written) {
  if (waiting_.empty() || waiting_.hide(v, region, written)) return {};
  return {Code::state,
          "cells that this rank wrote alone waited for the next sync when ranks wrote the variable together, "
          "with cells that no rank has and that keep their values; it is not known which of the two are "
          "theirs: call sync before such a write",
          -1,
          {},
          context_.header.variable(v).name};
}

// The smallest boxes that hold all that waits on any rank.
std::map<int, Box> IndependentPath::regions_of_all() const {
  std::map<int, Box> mine;
  const auto add = [](std::map<int, Box>& regions, int v, const Box& box) {
    const auto [at, is_new] = regions.try_emplace(v, box);
    if (!is_new) at->second = bounding(at->second, box);
  };
  waiting_.for_each([&](int v, const Box& box, const std::byte*) { add(mine, v, box); });
  ByteWriter out;
  pack(out, mine);
  std::map<int, Box> all;
  for (const Bytes& of_rank : context_.comm.all_gather(out.take())) {
    ByteReader in(of_rank);
    for (const auto& [v, box] : unpack_regions(in))
      add(all, v, box);
  }
  // Records that were taken back since are not there any more.
  const Schema& schema = context_.header.schema();
  for (auto& [v, box] : all)
    box = intersection(box, Box::whole(schema.shape(v)));
  std::erase_if(all, [](const auto& region) { return region.second.empty(); });
  return all;
}

Status IndependentPath::store_waiting() {
  const std::map<int, Box> regions = regions_of_all();
  Status status = caught([&] { make_ready(regions); });
  if (status.ok()) status = store_each_waiting();
  waiting_.clear();
  context_.comm.barrier();
  return status;
}

Status IndependentPath::store_each_waiting() {
  Status status;
  const Schema& schema = context_.header.schema();
  waiting_.for_each([&](int v, const Box& box, const std::byte* cells) {
    Status stored = caught([&] {
      if (!Box::whole(schema.shape(v)).contains(box))
        throw Error(Code::not_found, "the record that this rank wrote cells of, {}, is not there any more",
                    as_index(box.end(0) - 1));
      const auto addresses = find(v, box);
      if (!addresses) throw Error(Code::internal, "cells that waited have no place");
      store_at(v, box, cells, *addresses);
    });
    if (!stored.ok() && stored.variable.empty()) stored.variable = context_.header.variable(v).name;
    status.merge(stored);
  });
  return status;
}

Box IndependentPath::chunks_in(int v, const Box& region) const {
  return chunks_of(region, context_.header.placement(v).chunk);
}

// On the owner. What it had given when it fails is in `given`.
void IndependentPath::give_places(const std::map<int, Box>& regions, std::vector<Given>& given) {
  FileHeader& header = context_.header;
  for (const auto& [v, region] : regions) {
    header.set_distributed(v);
    given.push_back({v, {}, {}, {}});
    header.write_out_put(v);
    given.back().gaps = context_.records.gaps_in(header.schema(), v, region);
    if (is_placed_by_rule(v)) continue;
    std::vector<bool> fresh;
    given.back().addresses = header.catalog().place(v, chunks_in(v, region), no_cells(region.rank()), fresh);
    given.back().fresh.assign(fresh.begin(), fresh.end());
  }
}

void IndependentPath::take_places(const Given& given, const Box& chunks) {
  if (given.addresses.empty()) return;
  if (context_.header.placement(given.variable).kind == Placement::Kind::regular)
    context_.header.set_begin(given.variable, given.addresses.front().offset);
  else
    keep_addresses(given.variable, chunks, given.addresses);
}

// What is not filled must not pass for values, on any rank and in the file.
void IndependentPath::give_back_places(const Given& given, const Box& chunks) {
  if (given.addresses.empty()) return;
  FileHeader& header = context_.header;
  if (header.on_owner())
    header.catalog().unplace(given.variable, chunks, {given.fresh.begin(), given.fresh.end()});
  if (header.placement(given.variable).kind == Placement::Kind::regular) {
    if (given.fresh.front() != 0) header.set_begin(given.variable, k_unplaced);
    return;
  }
  std::size_t i = 0;
  for_each_index(chunks, [&](const Dims& index) {
    if (given.fresh[i++] != 0) known_count_ -= known_[given.variable].erase(index);
  });
}

// The owner has all values that were put in the file, and gives places; then all ranks fill.
void IndependentPath::make_ready(const std::map<int, Box>& regions) {
  if (regions.empty()) return;
  FileHeader& header = context_.header;
  std::vector<Given> given;
  Status ready;
  const Bytes of_owner = context_.comm.from_root([&] {
    ready = caught([&] { give_places(regions, given); });
    ByteWriter out;
    out.put(ready.ok());
    out.put(given);
    return out.take();
  });
  ByteReader in(of_owner);
  const bool all_given = in.get<bool>();
  in.get(given);
  std::int64_t part = 0;
  for (const Given& one : given)
    ready.merge(named(caught([&] {
                        const Box& region = regions.at(one.variable);
                        header.set_distributed(one.variable);
                        take_places(one, chunks_in(one.variable, region));
                        if (all_given) fill(one, region, part);
                      }),
                      header.variable(one.variable).name));
  ready = context_.comm.agree(ready);
  for (const Given& one : given) {
    const Box& region = regions.at(one.variable);
    if (!ready.ok()) {
      give_back_places(one, chunks_in(one.variable, region));
      continue;
    }
    context_.records.note_write(header.schema(), one.variable, region);
    context_.records.add(header.schema(), one.variable, region);
  }
  if (!ready.ok()) throw Error(ready);
}

// What was never written, in parts, which ranks take in turn.
void IndependentPath::fill(const Given& given, const Box& region, std::int64_t& part) {
  const FileHeader& header = context_.header;
  const int v = given.variable;
  if (header.variable(v).no_fill) return;
  const Dims& chunk = header.placement(v).chunk;
  const auto fill_part = [&](const Box& cells) {
    if (part++ % context_.comm.size() != context_.comm.rank()) return;
    const auto addresses = find(v, cells);
    if (!addresses) throw Error(Code::internal, "cells to fill have no place");
    addresses_.fill_cells(v, cells, *addresses);
  };
  const std::int64_t most = k_fill_part / element_size(header.variable(v));
  std::size_t i = 0;
  if (!given.fresh.empty())
    for_each_index(chunks_in(v, region), [&](const Dims& index) {
      if (given.fresh[i++] != 0) for_each_part(cells_of_chunk(index, chunk), most, fill_part);
    });
  for (const Box& gap : given.gaps)
    for_each_part(gap, most, fill_part);
}

void IndependentPath::make_new_ready(const std::map<int, Box>& regions) {
  const Status ready = caught([&] { make_ready(regions); });
  if (ready.ok()) return;
  unready_.insert(regions.begin(), regions.end());
  throw Error(ready);
}

// What fails now is no failure of a call: the cells wait for the next time.
void IndependentPath::make_rest_ready() {
  if (unready_.empty()) return;
  const Schema& schema = context_.header.schema();
  for (auto& [v, region] : unready_)
    region = intersection(region, Box::whole(schema.shape(v)));  // records may have been taken back
  std::erase_if(unready_, [](const auto& one) { return one.second.empty(); });
  if (caught([&] { make_ready(unready_); }).ok()) unready_.clear();
}

// ---- Reading

void IndependentPath::fetch(int v, const Box& box, std::byte* values) {
  require_one_view_of_file();
  if (box.empty()) return;
  const FileHeader& header = context_.header;
  const VariableDef& variable = header.variable(v);
  const auto unknown = [] {
    return Error(
        Code::state,
        "all ranks together wrote to the variable since the last sync, and a rank alone does not see "
        "that yet; call sync first, or read with all ranks (read, get)");
  };
  if (context_.writable && is_pending(v)) throw unknown();
  const Placement& where = header.placement(v);
  if (where.kind == Placement::Kind::encoded || where.kind == Placement::Kind::library) {
    const bool sees_all = !context_.writable || header.on_owner();
    if (!sees_all && (v >= committed_variables_ || context_.state.has_uncommitted(v) ||
                      !Box::whole(context_.header.reader().schema().shape(v)).contains(box)))
      throw unknown();
    return context_.header.get_alone(v, box, values);
  }
  const auto addresses = find(v, box);
  if (!addresses) throw unknown();
  const Bytes fill = stored_absent_value(variable, where.swapped);
  const auto size = static_cast<std::int64_t>(fill.size());
  for_each_run(v, box, *addresses, [&](const Extent& run) {
    std::byte* const cells = values + run.in_memory;
    const std::int64_t got = run.in_file.is_placed()
                                 ? static_cast<std::int64_t>(context_.file.read(
                                       run.in_file, {cells, static_cast<std::size_t>(run.bytes)}))
                                 : 0;
    // Behind the end of the file: records that others only announced.
    const std::int64_t whole = got / size * size;
    if (whole < run.bytes)
      fill_box(cells + whole, {size}, {(run.bytes - whole) / size}, fill.data(), fill.size());
  });
  fetch_stored(v, box, values);
  if (where.swapped) swap_bytes(values, fill.size(), box.cells());
}

// Over what the file has: what nobody wrote yet, and what waits here.
void IndependentPath::fetch_stored(int v, const Box& box, std::byte* cells) {
  const FileHeader& header = context_.header;
  const Bytes fill = stored_fill(header.variable(v), header.placement(v).swapped);
  const Dims strides = byte_strides(box.count, fill.size());
  for (const Box& gap : context_.records.gaps_in(header.schema(), v, box))
    fill_box(cells + position_in(gap.first, box) * static_cast<std::int64_t>(fill.size()), strides, gap.count,
             fill.data(), fill.size());
  waiting_.copy_to(v, box, cells);
}

}  // namespace shoal
