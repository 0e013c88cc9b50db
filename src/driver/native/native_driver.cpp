// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/native_driver.hpp"

#include <algorithm>
#include <cstring>

#include "base/text.hpp"
#include "driver/call_matching.hpp"
#include "driver/file_catalog.hpp"
#include "driver/io_ranks.hpp"
#include "driver/shared_file.hpp"
#include "format/netcdf4/contents.hpp"

namespace shoal {

namespace {

constexpr std::int64_t k_buffer = 1024 * 1024;  // of cells on their way to the file or an array

// How cells of a field go to the file.
std::uint64_t path_of(const FieldJob& job, bool rearranges) {
  return 2 * job.share->number + (rearranges ? 1 : 0);
}

}  // namespace

NativeDriver::NativeDriver(const Comm& comm, const std::string& path, OpenMode mode, Format format,
                           const DriverOptions& options)
    : comm_(comm),
      options_(options),
      writable_(mode != OpenMode::read),
      file_(path, writable_, options.open_store, counters_),
      state_(comm.rank()) {
  counters_.warnings = options.warnings;
  if (writable_) check_threads();
  check_io_ranks(comm, options);
  check_rearranging(options, options.writers);
  nodes_ = find_nodes();
  check_writers();
  const Timer timer(counters_.open);
  const Bytes opened = comm_.from_root([&] {
    catalog_ = catalog_of_file(path, mode, format, options_, counters_.warnings);
    ByteWriter out;
    pack(out, options_.find_file_system(path));
    out.put(packed_header());
    return out.take();
  });
  ByteReader in(opened);
  const FileSystem where = unpack_file_system(in);
  take_header(in.get<Bytes>());
  strategies_.emplace(comm_, nodes_, options_, counters_, schema_.format);
  for (const auto& [key, value] : options_.hints)  // there is no MPI-IO to take them
    counters_.hints_dropped.push_back(key + "=" + value);
  parts_.emplace(schema_, options_.stage_bytes * nodes_->count(), counters_.pack);
  decoded_.emplace(options_.stage_bytes / nodes_->node().size());
  share_file(where);
  if (options_.stored_by == StoredBy::ranks) find_servers();
  if (options_.rearranger == RearrangerKind::subset) make_groups();
  records_.start(schema_);
  records_.note_committed(schema_);
}

// Where nodes do not see each other's bytes, parts of a page that two of them write are lost, and what was
// written cannot be read back: then all cells go through rank 0's node.
void NativeDriver::share_file(const FileSystem& found) {
  counters_.file_system = found.type;
  sharing_ = found.sharing;
  if (!writable_ || nodes_->single()) return;
  require_one_file(comm_, *nodes_, file_.path(), found);
  const FileSystem where = as_nodes_have_it(comm_, *nodes_, file_.path(), found, options_.find_file_system);
  const std::string warning = sharing_warning(where, false);
  if (!warning.empty()) counters_.warnings.push_back(warning);
  if (where.sharing != FileSystem::Sharing::close_to_open) return;
  if (const std::string setting = setting_that_keeps(options_); !setting.empty())
    throw Error(Code::setting, setting + ", but the file is on " + where.type +
                                   ", where nodes do not see each other's writes, and the ranks of one node "
                                   "must store for all; leave the setting out, or choose layout=node");
  bool elsewhere = false;
  strategies_->let_one_node_store(io_ranks_of_one_node(comm_, *nodes_, options_, elsewhere));
  if (elsewhere)
    counters_.warnings.push_back(
        "settings io_ranks, io_ranks_per_node, io_stride or io_base choose ranks of other nodes than rank "
        "0's to store, and "
        "on " +
        where.type +
        " cells that several nodes store may be lost; leave them out, or choose ranks of one node");
}

Bytes NativeDriver::packed_header() const {
  ByteWriter out;
  pack(out, catalog_->schema());
  std::vector<Placement> placements;
  for (int v = 0; v < static_cast<int>(catalog_->schema().variables.size()); ++v)
    placements.push_back(catalog_->placement(v));
  out.put(placements);
  return out.take();
}

void NativeDriver::take_header(const Bytes& header) {
  ByteReader in(header);
  schema_ = unpack_schema(in);
  in.get(placements_);
  // For libraries that this process may read the file with; only the owner's HDF5 has the file open.
  if (largest_encoded_chunk() > 0) netcdf4::provide_filters();
}

void NativeDriver::define(const Schema& wanted, const Cuts& /*cuts*/) {
  const Timer timer(counters_.define);
  for (const auto& [key, cut] : strategies_->all())
    must_send(cut, wanted);  // what cannot be is refused before anything changes
  take_header(comm_.from_root([&] {
    report_records();  // what holds records does not move, and its header reports them
    catalog_->define(wanted);
    return packed_header();
  }));
  records_.add_variables(schema_);
  for (auto& [key, cut] : strategies_->all())
    find_rearranger(cut);
  if (stage_ && nodes_->single() && options_.slot_bytes == 0 &&
      largest_encoded_chunk() > stage_->slot_bytes()) {
    complete_pending("defines");
    drop_stage();
    make_stage();
  }
}

void NativeDriver::prepare(const std::shared_ptr<const Decomposition>& decomposition) {
  if (strategies_->has(decomposition.get())) return;
  const Timer timer(counters_.define);
  if (!stage_) make_stage();
  CutStrategy cut = strategies_->choose(decomposition);
  if (decomposition->map() == nullptr && cut.strategy.rearranging != Rearranging::never)
    map_of(decomposition, false);
  find_rearranger(cut);
  strategies_->keep(std::move(cut));
}

void NativeDriver::skip_write(const Status& why) {
  state_.skip(why);
  if (why.ok()) return;  // it skipped another write before
  Status status = why;
  status.message +=
      "; this rank could not take part in the call, and what was written since the last sync may be missing";
  keep(status);
  if (stage_) stage_->fail();
}

bool NativeDriver::may_keep(const Decomposition& decomposition, const VariableDef& variable) const {
  return writable_ && (variable.no_fill || !options_.catalog.fill) &&
         decomposition.owned_cells() < volume(decomposition.global());
}

FieldJob NativeDriver::job_for(const Transfer& transfer) const {
  FieldJob job;
  job.transfer = &transfer;
  job.variable = &variable(transfer.variable);
  job.placement = &placements_[static_cast<std::size_t>(transfer.variable)];
  job.records = schema_.has_record(transfer.variable);
  job.share = &strategies_->of(transfer.decomposition.get()).share;
  job.alignment_bytes = options_.alignment_bytes;
  job.addresses_listed =
      job.placement->kind == Placement::Kind::listed ||
      (job.placement->kind == Placement::Kind::regular && job.placement->begin == k_unplaced);
  return job;
}

// Where nothing is that could stay, the field is stored like others.
FieldJob NativeDriver::job_to_write(const Transfer& transfer) const {
  FieldJob job = job_for(transfer);
  const std::int64_t first = job.records && !transfer.region.empty() ? transfer.region.first[0] : 0;
  const bool there =
      first < records_.written_records(schema_, transfer.variable) || puts_.called(transfer.variable);
  job.keeps = there && may_keep(*transfer.decomposition, *job.variable);
  return job;
}

// Who sets writers wants the stage's; and only what is in the stage can be stored later. What rank 0 put may
// still have to be written, and only the stage keeps that in order.
bool NativeDriver::goes_direct(const FieldJob& job) const {
  return options_.writers == 0 && options_.stored_by == StoredBy::calls &&
         !puts_.called(job.transfer->variable) && direct_->suits_writing(job);
}

Status NativeDriver::store(const FieldJob& job, bool rearranges) {
  if (job.is_encoded()) return store_encoded(job);
  if (rearranges) return job.transfer->decomposition->map() != nullptr ? store_boxes(job) : store_tiles(job);
  if (!goes_direct(job)) return writer_->write(job);
  Status status;
  writer_->complete_overlap(job, status);
  status.merge(direct_->write(job));
  return status;
}

void NativeDriver::write(const Transfer& transfer) {
  const Timer timer(counters_.write_calls);
  if (!stage_) make_stage();  // it failed before, on all ranks
  ask_others();
  const bool sends = !rearrangers_.empty();
  if (state_.has_skipped() || (sends && transfer.variable < 0)) return skip_write(transfer.status);
  // Nodes that need something of the owner's must agree before on who takes part.
  Route route = sends ? route_of(job_to_write(transfer)) : Route{must_match(transfer), {}, false};
  const bool matches = route.matches;
  if (matches) {
    const Status match = match_write(transfer);
    if (!match.ok()) return keep(match);
  } else if (transfer.variable < 0) {
    return skip_write(transfer.status);
  }
  if (route.after_queue) comm_.barrier();
  FieldJob job = job_to_write(transfer);
  const bool together = goes_together(job);
  records_.note_write(schema_, transfer.variable, transfer.region);
  state_.note_call(fingerprint_of(job, 0));
  state_.note_bytes(transfer.region.cells() * static_cast<std::int64_t>(size_of(job.variable->type)));
  if (!matches && !sends) keep_order(job, together);
  if (state_.has_diverged() && !matches && !sends) return;
  if (job.placement->kind == Placement::Kind::library)
    return keep({Code::not_supported,
                 "the variable is stored in a way that only the HDF5 library can write; write it to a new "
                 "variable",
                 -1,
                 {},
                 job.variable->name});
  if (job.is_encoded()) {
    const Status status = check_encoding(job);
    if (!status.ok()) return keep(status);
  }
  auto& definition = schema_.variables.at(static_cast<std::size_t>(transfer.variable));
  if (!definition.distributed) {  // found in the file, or defined without a decomposition
    definition.distributed = true;
    if (owner()) keep(caught([&] { catalog_->set_distributed(transfer.variable); }));
  }
  records_.add(schema_, transfer.variable, transfer.region);
  records_.note_known(schema_);
  if (together && !route.plan && !job.is_encoded()) route.plan = queue_plan(job);
  if (route.plan && !queue_->fits(*route.plan)) route.plan.reset();
  Status placed = caught([&] {
    if (puts_.waiting()) write_out_puts(transfer.variable);
    if (!route.plan) job.addresses = place(job);
  });
  if (matches && one_stage()) placed = comm_.agree(placed);  // the owner alone did something
  keep(placed);
  if (job.is_encoded()) complete_earlier_chunks(job);
  if (matches || sends) keep_order(job, together);
  if (state_.has_diverged() && !together) return;
  state_.change();
  ++counters_.fields_written;
  if (placed.ok() && route.plan) return enqueue(job, *route.plan);
  if (placed.ok()) {
    keep(located(store(job, together), job));
    if (stage_->broken()) state_.diverge();
    // Nodes do not come to the same failure in the same write.
    const Status reported = writer_->take_reported();
    if (nodes_->single() && options_.fails_early && !reported.ok()) throw Error(reported);
  } else if (!matches) {  // only the owner knows: without addresses nobody may store
    state_.diverge();
    stage_->fail();
  }
}

// What one node has in its stage may be stored after what another one stores: cells that are written again by
// another path must wait. All ranks are in this call, and know alike whether the path is another.
void NativeDriver::keep_order(const FieldJob& job, bool rearranges) {
  if (changes_path(job, rearranges)) complete_pending(k_writes);
  state_.note_path(job.transfer->variable, path_of(job, rearranges));
}

// What ranks do together they do even if the stage is broken for some, who may not all know it yet.
bool NativeDriver::goes_together(const FieldJob& job) {
  return job.is_encoded() ? !one_stage() : strategies_->rearranges(job);
}

// Of fields that go to no I/O ranks. Ranks that complete pending writes within a write match calls before, so
// that one that left the write out comes along.
bool NativeDriver::must_match(const Transfer& transfer) const {
  if (places_by_message() || (puts_.waiting() && !one_stage())) return true;
  if (transfer.variable < 0) return false;
  const FieldJob job = job_to_write(transfer);
  return changes_path(job, false) || must_complete_chunks(job);
}

// In one stage what comes later is stored later.
bool NativeDriver::changes_path(const FieldJob& job, bool rearranges) const {
  return !one_stage() && state_.changes_path(job.transfer->variable, path_of(job, rearranges));
}

// By the owner.
std::vector<std::uint64_t> NativeDriver::allocate(const FieldJob& job) {
  const int v = job.transfer->variable;
  const Box& region = job.transfer->region;
  const Box chunks = chunks_of(region, job.placement->chunk);
  std::vector<bool> fresh;
  // No cells are announced: the file gets to know of them at commit, when they are down.
  auto addresses = catalog_->place(v, chunks, Box(Dims(region.rank()), Dims(region.rank())), fresh);
  // Cells that may still come into being count as part of a chunk.
  Dims written_records = schema_.shape(v);
  for (int d = 0; d < written_records.size(); ++d)
    if (schema_.dims[static_cast<std::size_t>(job.variable->dims[static_cast<std::size_t>(d)])].unlimited)
      written_records[d] = std::max(written_records[d], chunks.end(d) * job.placement->chunk[d]);
  const Box whole = Box::whole(written_records);
  std::size_t i = 0;
  for_each_index(chunks, [&](const Dims& index) {
    const Box cells = cells_of_chunk(index, job.placement->chunk);
    const bool all = region.contains(intersection(cells, whole)) && !job.keeps;
    // Done before this rank arrives in the stage or sends the addresses, so nobody's cells can be there yet.
    if (fresh[i] && !all && !job.variable->no_fill) fill_cells(v, cells, {addresses[i]});
    ++i;
  });
  return addresses;
}

std::vector<std::uint64_t> NativeDriver::place(const FieldJob& job) {
  std::vector<std::uint64_t> addresses;
  if (!job.addresses_listed) return addresses;
  if (places_by_message()) {
    const Bytes message = comm_.from_root([&] {
      ByteWriter out;
      out.put(allocate(job));
      return out.take();
    });
    ByteReader(message).get(addresses);
  } else if (owner()) {
    addresses = allocate(job);
  }
  return addresses;
}

void NativeDriver::fill_cells(int v, const Box& cells, const std::vector<std::uint64_t>& addresses) {
  const Placement& where = placement(v);
  const Bytes fill = stored_fill(variable(v), where.swapped);
  const auto size = static_cast<std::int64_t>(fill.size());
  Bytes buffer(static_cast<std::size_t>(std::min(cells.cells() * size, k_buffer / size * size)));
  fill_box(buffer.data(), {size}, {static_cast<std::int64_t>(buffer.size()) / size}, fill.data(),
           fill.size());
  ExtentMerger merger([&](const Extent& extent) {
    const auto most = static_cast<std::int64_t>(buffer.size());
    for (std::int64_t at = 0; at < extent.bytes; at += most)
      file_.write(extent.in_file + static_cast<std::uint64_t>(at),
                  {buffer.data(), static_cast<std::size_t>(std::min(most, extent.bytes - at))});
  });
  const Box chunks = chunks_of(cells, where.chunk);
  std::int64_t in_stage = 0;  // only adjacency counts here
  for_each_piece({cells}, where.chunk, cells.cells(), [&](const Piece& piece) {
    const std::uint64_t address =
        addresses.empty() ? where.begin + where.stride * static_cast<std::uint64_t>(piece.chunk_index[0])
                          : addresses[static_cast<std::size_t>(position_in(piece.chunk_index, chunks))];
    add_extents(piece, where.chunk, fill.size(), address, in_stage, merger);
    in_stage += piece.cells.cells() * size;
  });
  merger.flush();
}

void NativeDriver::read(const Transfer& transfer) {
  const Timer timer(counters_.read_calls);
  if (!stage_) make_stage();
  if (writable_ || !one_stage()) complete_pending("reads");
  if (puts_.waiting()) write_out_puts(-1);
  // A rank that cannot even say what is read diverges, and the others learn of it where they wait for it.
  // Across nodes, and where the owner must be asked, everybody has to know before.
  const bool in_step = transfer.variable >= 0;
  if (!rearrangers_.empty()) {  // others may have to fetch for this rank: they must mean the same
    if (stage_) stage_->enter_match();
    const Status match = match_field_call(comm_, "reads", transfer.variable, transfer.region, transfer.status,
                                          nullptr, nullptr);
    if (!match.ok()) throw Error(match);
  }
  if (!in_step && stage_) stage_->fail();
  if (rearrangers_.empty() && (!in_step || !one_stage() || asks_owner(transfer)))
    agree_on_read(transfer.status);
  ++counters_.fields_read;
  Status status = transfer.status;
  status.merge(caught([&] {
    Transfer part = transfer;
    if (!status.ok()) part.mine = Box(Dims(part.region.rank()), Dims(part.region.rank()));
    status.merge(read_field(part));
  }));
  if (!status.ok() && status.variable.empty()) status.variable = variable(transfer.variable).name;
  agree_on_read(status);
}

Status NativeDriver::read_field(const Transfer& transfer) {
  FieldJob job = job_for(transfer);
  const bool is_map = transfer.decomposition->map() != nullptr;
  if (job.placement->kind == Placement::Kind::library)
    return is_map ? fetch_by_library(job) : read_by_library(job);
  if (job.is_encoded()) {
    job.encoded = find_encoded(job);
    if (sends_chunks(job)) return is_map ? fetch_chunks(job, false) : fetch_tiles(job);
    if (!nodes_->single()) strategies_->report_decoded(job);
    const bool keeps = !writable_ && parts_->is_part(job);
    return FieldReader(*stage_, file_, counters_, keeps ? &*decoded_ : nullptr).read(job);
  }
  if (job.addresses_listed) job.addresses = find(job);
  if (strategies_->rearranges(job)) return is_map ? fetch_boxes(job) : fetch_tiles(job);
  if (options_.rearranger != RearrangerKind::subset && direct_->suits(job)) return direct_->read(job);
  return FieldReader(*stage_, file_, counters_, nullptr).read(job);
}

bool NativeDriver::asks_owner(const Transfer& transfer) const {
  const Placement& where = placement(transfer.variable);
  if (where.kind == Placement::Kind::library) return false;
  if (where.kind == Placement::Kind::regular && where.begin != k_unplaced) return false;
  const auto known = found_.find(transfer.variable);
  return known == found_.end() || (known->second.addresses.empty() && known->second.encoded.empty()) ||
         !known->second.chunks.contains(chunks_of(transfer.region, where.chunk));
}

// All there is of the variable from the first chunk wanted on, as far as that is not too many.
Box NativeDriver::ahead_of(const FieldJob& job, const Box& wanted) const {
  constexpr std::int64_t k_batch = 16 * 1024;
  if (writable_ || wanted.rank() == 0 || wanted.empty()) return wanted;
  Box ahead = chunks_of(Box::whole(schema_.shape(job.transfer->variable)), job.placement->chunk);
  const std::int64_t row = ahead.cells() / ahead.count[0];
  ahead.first[0] = wanted.first[0];
  ahead.count[0] = std::min(ahead.count[0] - wanted.first[0], std::max(wanted.count[0], k_batch / row));
  return ahead.contains(wanted) ? ahead : wanted;
}

std::vector<std::uint64_t> NativeDriver::find(const FieldJob& job) {
  const int v = job.transfer->variable;
  const Dims& chunk = job.placement->chunk;
  const Box wanted = chunks_of(job.transfer->region, chunk);
  Found& known = found_[v];
  if (known.addresses.empty() || !known.chunks.contains(wanted)) {
    known.chunks = ahead_of(job, wanted);
    const Bytes message = comm_.from_root([&] {
      ByteWriter out;
      out.put(catalog_->find(v, known.chunks));
      return out.take();
    });
    ByteReader(message).get(known.addresses);
  }
  std::vector<std::uint64_t> addresses;
  for_each_index(wanted, [&](const Dims& index) {
    addresses.push_back(known.addresses[static_cast<std::size_t>(position_in(index, known.chunks))]);
  });
  if (writable_) found_.erase(v);
  return addresses;
}

void NativeDriver::agree_on_read(const Status& status) {
  if (nodes_->single() && stage_ && stage_->agree(status.ok(), counters_.blocked)) return;
  match_calls(comm_, {"reads"});  // others may never come
  const Status agreed = comm_.agree(status);
  const bool broken = comm_.max(std::int64_t{stage_ && stage_->broken() ? 1 : 0}) != 0;
  if (broken) recover();
  if (!agreed.ok()) throw Error(agreed);
  if (broken) throw Error(Code::out_of_step, "a rank of another node could not go on");
}

Catalog& NativeDriver::reader() {
  if (!reader_)
    reader_ = open_catalog(options_.open_store(file_.path(), StoreMode::read), false, options_.catalog);
  return *reader_;
}

void NativeDriver::get_by_library(int v, const Box& box, std::byte* cells) {
  const Catalog::Traffic before = reader().traffic();
  reader().get(v, box, cells);
  const Catalog::Traffic after = reader().traffic();
  counters_.reads += after.reads - before.reads;
  counters_.bytes_read += after.bytes_read - before.bytes_read;
}

Status NativeDriver::read_by_library(const FieldJob& job) {
  const Transfer& transfer = *job.transfer;
  ConversionErrors conversion_errors;
  const Status status = caught([&] {
    const Timer timer(counters_.read);
    if (transfer.mine.empty()) return;
    const Element from{job.variable->type, size_of(job.variable->type), false};
    const ConvertRun convert = find_conversion(from, in_memory(transfer));
    const auto most = std::max(k_buffer, options_.stage_bytes / stage_->node().size()) /
                      static_cast<std::int64_t>(from.size);
    Dims everything = transfer.region.count;
    for (int d = 0; d < everything.size(); ++d)
      everything[d] = transfer.region.end(d);
    Bytes buffer;
    for_each_piece({transfer.mine}, everything, most, [&](const Piece& piece) {
      buffer.resize(static_cast<std::size_t>(piece.cells.cells()) * from.size);
      get_by_library(transfer.variable, piece.cells, buffer.data());
      const ArrayView source = ArrayView::contiguous(buffer.data(), from.type, piece.cells.count);
      conversion_errors.merge(unpack_cells(transfer, source.data, source.strides, piece.cells, convert), 0);
    });
  });
  return status.ok() && conversion_errors.count > 0
             ? conversion_status(transfer, *job.variable, conversion_errors, transfer.mine, false)
             : status;
}

void NativeDriver::put(int v, const Box& box, const std::byte* values,
                       const std::vector<std::string>& strings, const Status& status) {
  puts_.note_call(v);
  state_.note_call();  // also if one rank gets it wrong
  Status failure = status;
  if (v >= 0) {
    if (variable(v).distributed) complete_pending("puts");
    if (owner() && status.ok()) {
      puts_.hold(v);
      failure = caught([&] {
        if (variable(v).type == Type::string)
          catalog_->put_strings(v, box, strings);
        else
          catalog_->put(v, box, values);
      });
    }
    // On other ranks this is a guess, right if the owner's put was good and they know what it puts.
    state_.change();
    if (failure.ok()) records_.add(schema_, v, box);
    if (!failure.ok() && failure.variable.empty()) failure.variable = variable(v).name;
  }
  keep(failure);
}

void NativeDriver::get(int v, const Box& box, std::byte* values, std::vector<std::string>& strings,
                       const Status& status) {
  complete_pending("gets");
  const bool known = v >= 0 && status.ok();
  const bool text = known && variable(v).type == Type::string;
  const auto bytes = known && !text ? static_cast<std::int64_t>(size_of(variable(v).type)) * box.cells() : 0;
  // What is not committed is known to the owner alone.
  const bool all = options_.all_read && !writable_;
  Status outcome = status;
  if ((owner() || all) && known) {
    outcome = caught([&] {
      if (writable_) report_records();  // those that were written but not committed
      Catalog& from = owner() ? *catalog_ : reader();
      if (text)
        strings = from.get_strings(v, box);
      else
        from.get(v, box, values);
    });
    if (!outcome.ok() && outcome.variable.empty()) outcome.variable = variable(v).name;
  }
  comm_.agree_or_throw(outcome);
  if (all) return;
  if (!text) return comm_.broadcast(values, bytes, 0);
  ByteWriter out;
  out.put(strings);
  Bytes message = out.take();
  comm_.broadcast(message, 0);
  ByteReader(message).get(strings);
}

std::unique_ptr<Driver> make_native_driver(const Comm& comm, const std::string& path, OpenMode mode,
                                           Format format, const DriverOptions& options) {
  return std::make_unique<NativeDriver>(comm, path, mode, format, options);
}

}  // namespace shoal
