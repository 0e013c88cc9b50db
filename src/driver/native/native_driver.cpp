// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/native_driver.hpp"

#include <fmt/core.h>

#include "driver/protocol/call_matching.hpp"
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
}

void NativeDriver::define(const Schema& wanted, const Cuts& /*cuts*/) {
  const Timer timer(counters_.define);
  for (const auto& cut : strategies_.all())
    paths_.rearrangers.check_kept_cells(cut.plan,
                                        wanted);  // what cannot be is refused before anything changes
  header_.define(wanted);
  records_.add_variables(header_.schema());
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

void NativeDriver::write(const Transfer& transfer) {
  const Timer timer(counters_.write_calls);
  if (!paths_.staged.is_made()) paths_.staged.make();  // it failed before, on all ranks
  pending_.ask_others();
  if (state_.has_skipped() || (transfer.variable < 0 && !paths_.rearrangers.empty()))
    return skip_write(transfer.status);
  if (transfer.variable >= 0) state_.log().note(CallLog::Verb::wrote, transfer.variable, transfer.region);
  // Nodes that need something of the owner's must agree before on who takes part.
  Route route = router_.route_of(transfer);
  if (route.matches) {
    const Status match = pending_.match_write(transfer, route.begins_sending);
    if (!match.ok()) return keep(match);
  } else if (transfer.variable < 0) {
    return skip_write(transfer.status);
  }
  if (route.begins_sending) {
    const Status begun = comm_.agree(
        caught([&] { paths_.rearrangers.begin_sending(strategies_.of(transfer.decomposition.get())); }));
    if (!begun.ok()) return keep(begun);
    route = router_.route_of(transfer);
    route.matches = true;
  }
  if (route.after_queue) comm_.barrier();
  write_field(transfer, route);
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

void NativeDriver::write_field(const Transfer& transfer, Route& route) {
  FieldJob job = router_.job_to_write(transfer);
  router_.complete(route, job);
  records_.note_write(header_.schema(), transfer.variable, transfer.region);
  state_.note_call(fingerprint_of(job, 0));
  state_.note_field();
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
  // Chunks that wait for more cells are stored first, where the call cannot wait for them.
  if (router_.must_complete_chunks(job)) pending_.complete(k_writes);
  if (all_are_here) keep_order(job, route.together);
  if (state_.has_diverged() && !route.together) return;
  state_.change();
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
          "the variable is stored in a way that only the HDF5 library can write; write it to a new "
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
    if (!route.plan) job.addresses = addresses_.place(job, router_.places_by_message());
  });
  // The owner alone did something.
  return route.matches && paths_.rearrangers.one_stage() ? comm_.agree(placed) : placed;
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

void NativeDriver::read(const Transfer& transfer) {
  const Timer timer(counters_.read_calls);
  if (!paths_.staged.is_made()) paths_.staged.make();
  if (writable_ || !paths_.rearrangers.one_stage()) pending_.complete("reads");
  if (header_.puts().waiting()) write_out_puts(-1);
  match_read(transfer);
  ++counters_.fields_read;
  Status status = transfer.status;
  status.merge(caught([&] {
    Transfer part = transfer;
    if (!status.ok()) part.mine = Box(Dims(part.region.rank()), Dims(part.region.rank()));
    FieldJob job = context_.job_for(part);
    status.merge(router_.read(job));
  }));
  if (!status.ok() && status.variable.empty()) status.variable = header_.variable(transfer.variable).name;
  pending_.agree_on_read(status);
}

// A rank that cannot even say what is read diverges, and the others learn of it where they wait for it.
// Across nodes, and where the owner must be asked, everybody has to know before.
void NativeDriver::match_read(const Transfer& transfer) {
  const bool in_step = transfer.variable >= 0;
  const bool sends = !paths_.rearrangers.empty();
  if (sends) {  // others may have to fetch for this rank: they must mean the same
    paths_.staged.enter_match();
    const Status match = match_field_call(comm_, "reads", transfer.variable, transfer.region, transfer.status,
                                          nullptr, nullptr);
    if (!match.ok()) throw Error(match);
  }
  if (!in_step) paths_.staged.fail();
  if (!sends && (!in_step || !paths_.rearrangers.one_stage() || addresses_.asks_owner(transfer)))
    pending_.agree_on_read(transfer.status);
}

void NativeDriver::put(int v, const Box& box, const std::byte* values,
                       const std::vector<std::string>& strings, const Status& status) {
  header_.puts().note_call(v);
  state_.note_call();  // also if one rank gets it wrong
  state_.log().note(CallLog::Verb::put, v, {});
  Status failure = status;
  if (v >= 0) {
    if (header_.variable(v).distributed && state_.may_have_written_field()) pending_.complete("puts");
    if (header_.on_owner() && status.ok()) failure = caught([&] { header_.put(v, box, values, strings); });
    // On other ranks this is a guess, right if the owner's put was good and they know what it puts.
    state_.change();
    if (failure.ok() && !box.empty()) records_.add(header_.schema(), v, box);
    if (!failure.ok() && failure.variable.empty()) failure.variable = header_.variable(v).name;
  }
  keep(failure);
}

void NativeDriver::get(int v, const Box& box, std::byte* values, std::vector<std::string>& strings,
                       const Status& status) {
  pending_.complete("gets");
  const bool known = v >= 0 && status.ok();
  const bool text = known && header_.variable(v).type == Type::string;
  const auto bytes =
      known && !text ? static_cast<std::int64_t>(size_of(header_.variable(v).type)) * box.cells() : 0;
  // What is not committed is known to the owner alone.
  const bool all = options_.reading.all_read && !writable_;
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
