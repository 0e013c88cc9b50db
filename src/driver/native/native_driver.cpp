// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/native_driver.hpp"

#include <fmt/core.h>

#include "driver/protocol/call_matching.hpp"
#include "driver/protocol/root_values.hpp"
#include "rearrange/io_ranks.hpp"

namespace shoal {

NativeDriver::NativeDriver(const Comm& comm, const std::string& path, OpenMode mode, Format format,
                           const DriverOptions& options)
    : comm_(comm),
      options_(options),
      writable_(mode != OpenMode::read),
      file_(path, writable_, options_.system, counters_),
      groups_(comm, options_, counters_),
      header_(comm, options_, counters_, file_, writable_),
      state_(comm.rank()),
      strategies_(comm, groups_, options_, counters_, header_.schema()),
      context_{comm, options_, writable_, counters_, file_, groups_, header_, records_, state_, strategies_},
      addresses_(context_),
      paths_(context_, addresses_),
      router_(context_, addresses_, paths_),
      pending_(context_, addresses_, paths_) {
  counters_.warnings = options.warnings;
  check_io_ranks(comm, options.rearranging);
  check_rearranging(options.rearranging, options.stage.writers.value_or(1));
  groups_.find_nodes();
  if (options.machine && (options.machine->measured() || !groups_.single()))
    for (const auto& choice : options.machine_choices)
      strategies_.add_line("machine: " + choice);
  const Timer timer(counters_.open);
  open(mode, format);
}

void NativeDriver::open(OpenMode mode, Format format) {
  const FileSystem where = header_.open(mode, format);
  file_.stays(header_.number());
  // So that a reader keeps the file that it has when another one takes the name; who cannot hears why later.
  if (!writable_ && where.sharing == FileSystem::Sharing::local) caught([&] { file_.open_now(); });
  for (const auto& [key, value] : options_.library.hints)  // there is no MPI-IO to take them
    counters_.hints_dropped.push_back(fmt::format("{}={}", key, value));
  paths_.encoded.begin();
  if (auto io_ranks = groups_.share_file(file_.path(), where, writable_))
    strategies_.let_one_node_store(std::move(*io_ranks));
  // Those that have nothing else to do are the I/O ranks, too.
  if (options_.background.stored_by == StoredBy::ranks)
    strategies_.set_io_ranks(groups_.servers(strategies_.one_node_stores()));
  if (options_.rearranging.rearranger == RearrangerKind::subset) {
    groups_.make_groups();
    strategies_.add_line(report_text_of_groups(groups_.nodes().count(), groups_.node().size()));
  }
  records_.start(header_.schema());
  records_.note_committed(header_.schema());
  paths_.independent.note_committed();
}

void NativeDriver::define(const Schema& wanted, const Cuts& /*cuts*/) {
  const Timer timer(counters_.define);
  for (const auto& cut : strategies_.all())
    paths_.rearrangers.check_kept_cells(cut.plan,
                                        wanted);  // what cannot be is refused before anything changes
  const int before = header_.schema().variables.count();
  header_.define(wanted);
  records_.add_variables(header_.schema());
  keep(caught([&] { make_new_ready(wanted, before); }));  // without it their cells wait
  for (auto& cut : strategies_.all())
    paths_.rearrangers.find(cut.plan);
  StagedPath& staged = paths_.staged;
  if (staged.is_made() && groups_.single() && !options_.stage.slot_bytes &&
      header_.largest_encoded_chunk() > staged.slot_bytes()) {
    pending_.complete("defines");
    staged.drop();
    staged.make();
  }
}

// New variables that ranks are going to write alone get their place, and fill values.
void NativeDriver::make_new_ready(const Schema& wanted, int from) {
  std::map<int, Box> regions;
  for (int v = from; v < wanted.variables.count(); ++v) {
    const Box whole = wanted.variable(v).independent ? Box::whole(wanted.shape(v)) : no_cells(1);
    if (!whole.empty()) regions.emplace(v, whole);
  }
  paths_.independent.make_new_ready(regions);
}

void NativeDriver::prepare(const std::shared_ptr<const Decomposition>& decomposition) {
  if (strategies_.has(decomposition.get())) return;
  const Timer timer(counters_.define);
  if (!paths_.staged.is_made()) paths_.staged.make();
  CutStrategy cut = strategies_.choose(decomposition);
  if (decomposition->map() == nullptr && cut.strategy.rearranging != Rearranging::never)
    paths_.rearrangers.map_of(decomposition, false);
  paths_.rearrangers.find(cut);
  strategies_.keep(std::move(cut));
}

void NativeDriver::begin_write() {
  if (!paths_.staged.is_made()) paths_.staged.make();  // it failed before, on all ranks
  pending_.ask_others();
}

void NativeDriver::write(const Transfer& transfer) {
  const Timer timer(counters_.write_calls);
  begin_write();
  if (state_.has_skipped()) return skip_write(transfer.refused.why);
  state_.log().note(CallLog::Verb::wrote, transfer.variable, transfer.region);
  // Nodes that need something of the owner's must agree before on who takes part.
  FieldJob job = router_.job_to_write(transfer);
  const Box sure = !job.keeps            ? transfer.region
                   : is_mapped(transfer) ? no_cells(transfer.region.rank())
                                         : own_cells(transfer);
  keep(paths_.independent.supersede(transfer.variable, transfer.region, sure));
  Route route = router_.route_of(job);
  route.matches = route.matches || job.fills_gaps;
  if (route.matches) {
    const Status match = pending_.match_write(transfer, route.begins_sending);
    if (!match.ok()) return keep(match);
  }
  if (route.begins_sending) {
    const Status begun = comm_.agree(
        caught([&] { paths_.rearrangers.begin_sending(strategies_.of(transfer.decomposition.get())); }));
    if (!begun.ok()) return keep(begun);
    route = router_.route_of(router_.job_to_write(transfer));
    route.matches = true;
  }
  if (route.after_queue) comm_.barrier();
  if (route.matches) job = router_.job_to_write(transfer);  // what waited may have been stored
  write_field(job, route);
}

// Where the owner has something to do before, ranks match the write, and with it the refusal; else nobody
// waits for this rank.
void NativeDriver::refuse_write(const Status& why) {
  const Timer timer(counters_.write_calls);
  begin_write();
  const bool matches = !state_.has_skipped() && paths_.rearrangers.empty() && router_.needs_the_owner();
  if (matches) return keep(pending_.match_refused_write(why));
  skip_write(why);
}

void NativeDriver::refuse(const RefusedCall& call) {
  switch (call.kind) {
    case RefusedCall::Kind::write:
      return refuse_write(call.why);
    case RefusedCall::Kind::read:
      return refuse_read(call.why);
    case RefusedCall::Kind::put:
      begin_put(call.variable);
      return keep(call.variable ? of_variable(call.why, *call.variable) : call.why);
    case RefusedCall::Kind::get:
      pending_.complete("gets");
      return comm_.agree_or_throw(call.why);
  }
}

void NativeDriver::skip_write(const Status& why) {
  state_.skip(why);
  if (why.ok()) return;  // it skipped another write before
  Status status = why;
  status.message +=
      "; this rank could not take part in the call, and what was written since the last sync may be missing";
  keep(status);
  paths_.staged.fail();
}

void NativeDriver::write_field(FieldJob& job, Route& route) {
  const Transfer& transfer = *job.transfer;
  router_.complete(route, job);
  records_.note_write(header_.schema(), transfer.variable, transfer.region);
  state_.note_call(fingerprint_of(job, 0));
  state_.note_bytes(transfer.region.cells() * static_cast<std::int64_t>(size_of(job.variable->type)));
  const bool all_are_here = route.matches || route.sends;
  if (!all_are_here) {
    keep_order(job, route.together);
    if (state_.has_diverged()) return;
  }
  if (!can_write(job)) return;
  // It may have been found in the file, or defined without a decomposition.
  keep(caught([&] { header_.set_distributed(transfer.variable); }));
  records_.add(header_.schema(), transfer.variable, transfer.region);
  records_.note_known(header_.schema());
  const Status placed = place(job, route);
  keep(placed);
  if (!placed.ok())  // which all ranks know then
    for (const Box& gap : job.gaps)
      records_.put_back(header_.schema(), {{transfer.variable, gap}});
  // Chunks that wait for more cells are stored first, where the call cannot wait for them.
  if (router_.must_complete_chunks(job)) pending_.complete(k_writes);
  if (all_are_here) keep_order(job, route.together);
  if (state_.has_diverged() && !route.together) return;
  state_.change();
  state_.note_field();  // after all that completes the writes before it
  ++counters_.fields_written;
  strategies_.note_write(job);
  if (placed.ok()) return store(job, route);
  if (!route.matches) {  // only the owner knows: without addresses nobody may store
    state_.diverge();
    paths_.staged.fail();
  }
}

bool NativeDriver::can_write(const FieldJob& job) {
  if (job.placement->kind == Placement::Kind::library) {
    keep({Code::not_supported,
          "the variable is stored in a way that ranks cannot write to together; write it to a new "
          "variable",
          -1,
          {},
          job.variable->name});
    return false;
  }
  if (!job.is_encoded()) return true;
  const Status status = paths_.encoded.check(job);
  keep(status);
  return status.ok();
}

Status NativeDriver::place(FieldJob& job, const Route& route) {
  Status placed = caught([&] {
    if (header_.puts().waiting()) write_out_puts(job.transfer->variable);
    if (header_.on_owner())
      for (const auto& gap : job.gaps)
        addresses_.fill_cells(job.transfer->variable, gap, {});
    if (!route.plan) job.addresses = addresses_.place(job, router_.places_by_message());
  });
  // The owner alone did something; cells that others store come after it.
  const bool waits = (route.matches && paths_.rearrangers.one_stage()) || job.fills_gaps;
  return waits ? comm_.agree(placed) : placed;
}

void NativeDriver::store(const FieldJob& job, const Route& route) {
  if (route.plan) return keep(located(paths_.queue.add(job, *route.plan), job));
  keep(located(router_.write(job, route.together), job));
  if (paths_.staged.is_broken()) state_.diverge();
  // Nodes do not come to the same failure in the same write.
  const Status reported = paths_.staged.take_reported();
  if (groups_.single() && options_.background.fails_early && !reported.ok()) throw Error(reported);
}

// What one node has in its stage may be stored after what another one stores: cells that are written again by
// another path must wait. All ranks are in this call, and know alike whether the path is another.
void NativeDriver::keep_order(const FieldJob& job, bool together) {
  if (router_.changes_path(job, together)) pending_.complete(k_writes);
  router_.note_path(job, together);
}

// -1: of all variables.
void NativeDriver::write_out_puts(int v) {
  if (v >= 0 && paths_.rearrangers.one_stage())  // nobody of the node stores before the owner has come
    header_.write_out_put(v);
  else
    header_.write_out_puts();
}

void NativeDriver::begin_read() {
  if (!paths_.staged.is_made()) paths_.staged.make();
  if (writable_ || !paths_.rearrangers.one_stage()) pending_.complete("reads");
  if (header_.puts().waiting()) write_out_puts(-1);
  if (!paths_.rearrangers.empty()) paths_.staged.enter_match();
}

void NativeDriver::read(const Transfer& transfer) {
  const Timer timer(counters_.read_calls);
  begin_read();
  match_read(transfer);
  ++counters_.fields_read;
  Status status = transfer.refused.why;
  status.merge(caught([&] {
    Transfer part = transfer;
    if (!status.ok()) part.mine = no_cells(part.region.rank());
    FieldJob job = context_.job_for(part);
    status.merge(router_.read(job));
  }));
  pending_.agree_on_read(of_variable(status, transfer.variable));
}

// Across nodes, and where the owner must be asked, everybody has to know before what is refused.
void NativeDriver::match_read(const Transfer& transfer) {
  if (!paths_.rearrangers.empty()) {  // others may have to fetch for this rank: they must mean the same
    const Status match =
        match_field_call(comm_, "reads", transfer.variable, transfer.region, transfer.refused.why);
    if (!match.ok()) throw Error(match);
  } else if (!paths_.rearrangers.one_stage() || addresses_.asks_owner(transfer)) {
    pending_.agree_on_read(transfer.refused.why);
  }
}

// Where ranks do not match reads, this one diverges, and the others learn of it where they wait for it.
void NativeDriver::refuse_read(const Status& why) {
  const Timer timer(counters_.read_calls);
  begin_read();
  if (!paths_.rearrangers.empty()) throw Error(match_refused_call(comm_, "reads", why));
  paths_.staged.fail();
  pending_.agree_on_read(why);
}

Status NativeDriver::of_variable(const Status& status, int v) const {
  return named(status, header_.variable(v).name);
}

// Also if one rank gets it wrong. variable: none where this rank does not know it.
void NativeDriver::begin_put(std::optional<int> variable) {
  header_.puts().note_call(variable);
  state_.note_call();
  state_.log().note(CallLog::Verb::put, variable, {});
  if (!variable) return;
  if (header_.variable(*variable).distributed && state_.may_have_written_field()) pending_.complete("puts");
  state_.change();
}

void NativeDriver::put(int v, const Box& box, const std::byte* values,
                       const std::vector<std::string>& strings) {
  begin_put(v);
  keep(paths_.independent.supersede(v, box, box));
  Status failure;
  if (header_.on_owner()) failure = caught([&] { header_.put(v, box, values, strings); });
  // On other ranks this is a guess, right if the owner's put was good and they know what it puts.
  if (failure.ok() && !box.empty()) records_.add(header_.schema(), v, box);
  keep(of_variable(failure, v));
}

void NativeDriver::get(int v, const Box& box, std::byte* values, std::vector<std::string>& strings) {
  pending_.complete("gets");
  // What is not committed is known to the owner alone.
  const bool all = options_.reading.all_read && !writable_;
  Status outcome;
  if (header_.on_owner() || all)
    outcome = of_variable(caught([&] { header_.get(v, box, values, strings); }), v);
  comm_.agree_or_throw(outcome);
  if (!all) share_values(comm_, header_.variable(v).type, box, values, strings);
}

// What a rank wrote alone comes before what ranks write in the call that is matched.
CallMatch NativeDriver::match_calls(const Comm& comm, const CallSignature& signature) {
  CallSignature mine = signature;
  mine.waits = paths_.independent.waits();
  const CallMatch match = pending_.match_calls(comm, mine);
  if (match.waits) pending_.complete(signature.does);
  return match;
}

void NativeDriver::fetch(int variable, const Box& box, std::byte* values) {
  const Timer timer(counters_.read_calls);
  paths_.independent.fetch(variable, box, values);
}

void NativeDriver::store(int variable, const Box& box, const std::byte* cells) {
  const Timer timer(counters_.write_calls);
  paths_.independent.store(variable, box, cells);
}

void NativeDriver::sync(bool durable) {
  const Timer timer(counters_.commit);
  pending_.commit(durable, false);
}

void NativeDriver::submit_pending() {
  if (!state_.has_diverged()) keep(paths_.staged.submit_pending());
}

void NativeDriver::close(bool durable) {
  const Timer timer(counters_.close);
  if (writable_) {
    pending_.commit(durable, true);
  } else {
    file_.close();
    header_.close();
  }
}

std::unique_ptr<Driver> make_native_driver(const Comm& comm, const std::string& path, OpenMode mode,
                                           Format format, const DriverOptions& options) {
  return std::make_unique<NativeDriver>(comm, path, mode, format, options);
}

}  // namespace shoal
