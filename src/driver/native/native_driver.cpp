// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/native_driver.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "driver/call_matching.hpp"
#include "driver/io_ranks.hpp"

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
      groups_(comm, options_, counters_),
      header_(comm, options_, counters_, file_, writable_),
      state_(comm.rank()),
      strategies_(comm, groups_, options_, counters_, header_.schema()),
      context_{comm, options_, writable_, counters_, file_, groups_, header_, records_, state_, strategies_},
      addresses_(context_),
      staged_(context_, addresses_),
      direct_(file_, counters_, groups_, options.direct_bytes),
      rearrangers_(context_),
      rearranged_(context_, rearrangers_, staged_, buffers_),
      queue_(context_, addresses_, rearrangers_, staged_, rearranged_, buffers_),
      chunk_messages_(context_) {
  counters_.warnings = options.warnings;
  if (writable_) check_threads();
  check_io_ranks(comm, options);
  check_rearranging(options, options.writers);
  groups_.find_nodes();
  const Timer timer(counters_.open);
  const FileSystem where = header_.open(mode, format);
  for (const auto& [key, value] : options_.hints)  // there is no MPI-IO to take them
    counters_.hints_dropped.push_back(key + "=" + value);
  parts_.emplace(header_.schema(), options_.stage_bytes * groups_.nodes().count(), counters_.pack);
  decoded_.emplace(options_.stage_bytes / groups_.node().size());
  if (auto io_ranks = groups_.share_file(path, where, writable_))
    strategies_.let_one_node_store(std::move(*io_ranks));
  // Those that have nothing else to do are the I/O ranks, too.
  if (options_.stored_by == StoredBy::ranks)
    strategies_.set_io_ranks(groups_.servers(strategies_.one_node_stores()));
  if (options_.rearranger == RearrangerKind::subset) {
    groups_.make_groups();
    strategies_.add_line(report_text_of_groups(groups_.nodes().count(), groups_.node().size()));
  }
  records_.start(header_.schema());
  records_.note_committed(header_.schema());
}

void NativeDriver::check_threads() const {
  if (options_.stored_by != StoredBy::thread) return;
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  Status status;
  if (level < MPI_THREAD_FUNNELED)
    status = {Code::setting,
              "background=thread needs threads, and this program started MPI without (MPI_THREAD_SINGLE); "
              "start it by MPI_Init_thread with MPI_THREAD_FUNNELED in place of MPI_Init, or leave "
              "background out",
              -1,
              {},
              {}};
  comm_.agree_or_throw(status);
}

void NativeDriver::define(const Schema& wanted, const Cuts& /*cuts*/) {
  const Timer timer(counters_.define);
  for (const auto& [key, cut] : strategies_.all())
    rearrangers_.must_send(cut, wanted);  // what cannot be is refused before anything changes
  header_.define(wanted);
  records_.add_variables(header_.schema());
  for (auto& [key, cut] : strategies_.all())
    rearrangers_.find(cut);
  if (staged_.is_made() && groups_.single() && options_.slot_bytes == 0 &&
      header_.largest_encoded_chunk() > staged_.slot_bytes()) {
    complete_pending("defines");
    staged_.drop();
    staged_.make();
  }
}

void NativeDriver::prepare(const std::shared_ptr<const Decomposition>& decomposition) {
  if (strategies_.has(decomposition.get())) return;
  const Timer timer(counters_.define);
  if (!staged_.is_made()) staged_.make();
  CutStrategy cut = strategies_.choose(decomposition);
  if (decomposition->map() == nullptr && cut.strategy.rearranging != Rearranging::never)
    rearrangers_.map_of(decomposition, false);
  rearrangers_.find(cut);
  strategies_.keep(std::move(cut));
}

void NativeDriver::skip_write(const Status& why) {
  state_.skip(why);
  if (why.ok()) return;  // it skipped another write before
  Status status = why;
  status.message +=
      "; this rank could not take part in the call, and what was written since the last sync may be missing";
  keep(status);
  staged_.fail();
}

// Where nothing is that could stay, the field is stored like others.
FieldJob NativeDriver::job_to_write(const Transfer& transfer) const {
  FieldJob job = context_.job_for(transfer);
  const std::int64_t first = job.records && !transfer.region.empty() ? transfer.region.first[0] : 0;
  const bool there = first < records_.written_records(header_.schema(), transfer.variable) ||
                     header_.puts().called(transfer.variable);
  job.keeps = there && context_.may_keep(*transfer.decomposition, *job.variable);
  return job;
}

// Who sets writers wants the stage's; and only what is in the stage can be stored later. What rank 0 put may
// still have to be written, and only the stage keeps that in order.
bool NativeDriver::goes_direct(const FieldJob& job) const {
  return options_.writers == 0 && options_.stored_by == StoredBy::calls &&
         !header_.puts().called(job.transfer->variable) && direct_.suits_writing(job);
}

Status NativeDriver::store(const FieldJob& job, bool rearranges) {
  if (job.is_encoded()) return store_encoded(job);
  if (rearranges) return rearranged_.write(job);
  if (!goes_direct(job)) return staged_.write(job);
  Status status;
  staged_.complete_overlap(job, status);
  status.merge(direct_.write(job));
  return status;
}

void NativeDriver::write(const Transfer& transfer) {
  const Timer timer(counters_.write_calls);
  if (!staged_.is_made()) staged_.make();  // it failed before, on all ranks
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
  records_.note_write(header_.schema(), transfer.variable, transfer.region);
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
  // It may have been found in the file, or defined without a decomposition.
  keep(caught([&] { header_.set_distributed(transfer.variable); }));
  records_.add(header_.schema(), transfer.variable, transfer.region);
  records_.note_known(header_.schema());
  if (together && !route.plan && !job.is_encoded()) route.plan = queue_.plan_of(job);
  if (route.plan && !queue_.fits(*route.plan)) route.plan.reset();
  Status placed = caught([&] {
    if (header_.puts().waiting()) write_out_puts(transfer.variable);
    if (!route.plan) job.addresses = addresses_.place(job, places_by_message());
  });
  if (matches && rearrangers_.one_stage()) placed = comm_.agree(placed);  // the owner alone did something
  keep(placed);
  if (job.is_encoded()) complete_earlier_chunks(job);
  if (matches || sends) keep_order(job, together);
  if (state_.has_diverged() && !together) return;
  state_.change();
  ++counters_.fields_written;
  if (placed.ok() && route.plan) return keep(located(queue_.add(job, *route.plan), job));
  if (placed.ok()) {
    keep(located(store(job, together), job));
    if (staged_.is_broken()) state_.diverge();
    // Nodes do not come to the same failure in the same write.
    const Status reported = staged_.take_reported();
    if (groups_.single() && options_.fails_early && !reported.ok()) throw Error(reported);
  } else if (!matches) {  // only the owner knows: without addresses nobody may store
    state_.diverge();
    staged_.fail();
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
  return job.is_encoded() ? !rearrangers_.one_stage() : strategies_.rearranges(job);
}

// Of fields that go to no I/O ranks. Ranks that complete pending writes within a write match calls before, so
// that one that left the write out comes along.
bool NativeDriver::must_match(const Transfer& transfer) const {
  if (places_by_message() || (header_.puts().waiting() && !rearrangers_.one_stage())) return true;
  if (transfer.variable < 0) return false;
  const FieldJob job = job_to_write(transfer);
  return changes_path(job, false) || must_complete_chunks(job);
}

// In one stage what comes later is stored later.
bool NativeDriver::changes_path(const FieldJob& job, bool rearranges) const {
  return !rearrangers_.one_stage() && state_.changes_path(job.transfer->variable, path_of(job, rearranges));
}

void NativeDriver::read(const Transfer& transfer) {
  const Timer timer(counters_.read_calls);
  if (!staged_.is_made()) staged_.make();
  if (writable_ || !rearrangers_.one_stage()) complete_pending("reads");
  if (header_.puts().waiting()) write_out_puts(-1);
  // A rank that cannot even say what is read diverges, and the others learn of it where they wait for it.
  // Across nodes, and where the owner must be asked, everybody has to know before.
  const bool in_step = transfer.variable >= 0;
  if (!rearrangers_.empty()) {  // others may have to fetch for this rank: they must mean the same
    staged_.enter_match();
    const Status match = match_field_call(comm_, "reads", transfer.variable, transfer.region, transfer.status,
                                          nullptr, nullptr);
    if (!match.ok()) throw Error(match);
  }
  if (!in_step) staged_.fail();
  if (rearrangers_.empty() && (!in_step || !rearrangers_.one_stage() || addresses_.asks_owner(transfer)))
    agree_on_read(transfer.status);
  ++counters_.fields_read;
  Status status = transfer.status;
  status.merge(caught([&] {
    Transfer part = transfer;
    if (!status.ok()) part.mine = Box(Dims(part.region.rank()), Dims(part.region.rank()));
    status.merge(read_field(part));
  }));
  if (!status.ok() && status.variable.empty()) status.variable = header_.variable(transfer.variable).name;
  agree_on_read(status);
}

Status NativeDriver::read_field(const Transfer& transfer) {
  FieldJob job = context_.job_for(transfer);
  const bool is_map = transfer.decomposition->map() != nullptr;
  if (job.placement->kind == Placement::Kind::library)
    return is_map ? rearranged_.read_by_library(job) : read_by_library(job);
  if (job.is_encoded()) {
    job.encoded = addresses_.find_encoded(job);
    if (sends_chunks(job)) return is_map ? fetch_chunks(job, false) : fetch_tiles(job);
    if (!groups_.single()) strategies_.report_decoded(job);
    const bool keeps = !writable_ && parts_->is_part(job);
    return staged_.read(job, keeps ? &*decoded_ : nullptr);
  }
  if (job.addresses_listed) job.addresses = addresses_.find(job);
  if (strategies_.rearranges(job)) return rearranged_.read(job);
  if (options_.rearranger != RearrangerKind::subset && direct_.suits(job)) return direct_.read(job);
  return staged_.read(job);
}

void NativeDriver::agree_on_read(const Status& status) {
  if (groups_.single() && staged_.agree(status.ok())) return;
  match_calls(comm_, {"reads"});  // others may never come
  const Status agreed = comm_.agree(status);
  const bool broken = comm_.max(std::int64_t{staged_.is_broken() ? 1 : 0}) != 0;
  if (broken) recover();
  if (!agreed.ok()) throw Error(agreed);
  if (broken) throw Error(Code::out_of_step, "a rank of another node could not go on");
}

Status NativeDriver::read_by_library(const FieldJob& job) {
  const Transfer& transfer = *job.transfer;
  ConversionErrors conversion_errors;
  const Status status = caught([&] {
    const Timer timer(counters_.read);
    if (transfer.mine.empty()) return;
    const Element from{job.variable->type, size_of(job.variable->type), false};
    const ConvertRun convert = find_conversion(from, in_memory(transfer));
    const auto most = std::max(k_buffer, options_.stage_bytes / groups_.node().size()) /
                      static_cast<std::int64_t>(from.size);
    Dims everything = transfer.region.count;
    for (int d = 0; d < everything.size(); ++d)
      everything[d] = transfer.region.end(d);
    Bytes buffer;
    for_each_piece({transfer.mine}, everything, most, [&](const Piece& piece) {
      buffer.resize(static_cast<std::size_t>(piece.cells.cells()) * from.size);
      header_.get_by_library(transfer.variable, piece.cells, buffer.data());
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
  header_.puts().note_call(v);
  state_.note_call();  // also if one rank gets it wrong
  Status failure = status;
  if (v >= 0) {
    if (header_.variable(v).distributed) complete_pending("puts");
    if (header_.on_owner() && status.ok()) failure = caught([&] { header_.put(v, box, values, strings); });
    // On other ranks this is a guess, right if the owner's put was good and they know what it puts.
    state_.change();
    if (failure.ok()) records_.add(header_.schema(), v, box);
    if (!failure.ok() && failure.variable.empty()) failure.variable = header_.variable(v).name;
  }
  keep(failure);
}

void NativeDriver::get(int v, const Box& box, std::byte* values, std::vector<std::string>& strings,
                       const Status& status) {
  complete_pending("gets");
  const bool known = v >= 0 && status.ok();
  const bool text = known && header_.variable(v).type == Type::string;
  const auto bytes =
      known && !text ? static_cast<std::int64_t>(size_of(header_.variable(v).type)) * box.cells() : 0;
  // What is not committed is known to the owner alone.
  const bool all = options_.all_read && !writable_;
  Status outcome = status;
  if ((header_.on_owner() || all) && known) {
    outcome = caught([&] { header_.get(v, box, values, strings); });
    if (!outcome.ok() && outcome.variable.empty()) outcome.variable = header_.variable(v).name;
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
