// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/field_router.hpp"
#include "format/format_traits.hpp"

namespace shoal {

namespace {

// How cells of a field go to the file, as a number.
std::uint64_t path_number(const FieldJob& job, bool together) {
  return 2 * job.share->number + (together ? 1 : 0);
}

}  // namespace

// Where nothing is that could stay, the field is stored like others.
FieldJob FieldRouter::job_to_write(const Transfer& transfer) const {
  FieldJob job = context_.job_for(transfer);
  const FileHeader& header = context_.header;
  const std::int64_t first = job.records && !transfer.region.empty() ? transfer.region.first[0] : 0;
  const bool there =
      first < context_.records.written_records(header.schema(), transfer.variable) ||
      header.puts().called(transfer.variable) ||
      (transfer.keeps_unowned && context_.records.was_committed(header.schema(), transfer.variable, first));
  job.keeps = there && context_.may_keep(transfer);
  job.fills_gaps =
      job.keeps && transfer.keeps_unowned && traits_of(header.schema().format).interleaves_records;
  if (job.fills_gaps)
    job.gaps = context_.records.gaps_in(header.schema(), transfer.variable, transfer.region);
  return job;
}

Route FieldRouter::route_of(const FieldJob& job) const {
  if (!paths_.rearrangers.empty()) return route_to_io_ranks(job);
  Route route;
  route.begins_sending = paths_.rearrangers.must_begin_sending(job);
  route.matches =
      route.begins_sending || needs_the_owner() || changes_path(job, false) || must_complete_chunks(job);
  return route;
}

Route FieldRouter::route_to_io_ranks(const FieldJob& job) const {
  Route route;
  route.sends = true;
  route.begins_sending = paths_.rearrangers.must_begin_sending(job);
  if (job.is_encoded() || route.begins_sending) return route;
  const Strategy& strategy = context_.strategies.of(job.transfer->decomposition.get()).strategy;
  const bool never = context_.groups.single() && strategy.rearranging == Rearranging::never;
  const CutStrategy::Field* const known = context_.strategies.known(job);
  if (context_.header.puts().waiting() || (known == nullptr && !never)) return route;
  const bool rearranges = !never && known->rearrange;
  if (changes_path(job, rearranges)) return route;
  route.after_queue = paths_.queue.waits(job, rearranges && !job.keeps);
  if (!rearranges) {
    route.matches = job.addresses_listed || route.after_queue;
    return route;
  }
  route.plan = paths_.queue.plan_of(job);
  route.matches = !route.plan || !paths_.queue.fits(*route.plan) || route.after_queue;
  return route;
}

// Of fields that go to no I/O ranks. Ranks that complete pending writes within a write match calls before, so
// that one that left the write out comes along.
bool FieldRouter::needs_the_owner() const {
  return places_by_message() || (context_.header.puts().waiting() && !paths_.rearrangers.one_stage());
}

// What ranks do together they do even if the stage is broken for some, who may not all know it yet.
void FieldRouter::complete(Route& route, const FieldJob& job) const {
  if (job.is_encoded()) {
    route.together = !paths_.rearrangers.one_stage();
    return;
  }
  route.together = context_.strategies.rearranges(job);
  if (route.together && !route.plan) route.plan = paths_.queue.plan_of(job);
  if (route.plan && !paths_.queue.fits(*route.plan)) route.plan.reset();
}

bool FieldRouter::places_by_message() const {
  return !paths_.rearrangers.one_stage() && !traits_of(context_.header.schema().format).interleaves_records;
}

// In one stage what comes later is stored later.
bool FieldRouter::changes_path(const FieldJob& job, bool together) const {
  return !paths_.rearrangers.one_stage() &&
         context_.state.changes_path(job.transfer->variable, path_number(job, together));
}

void FieldRouter::note_path(const FieldJob& job, bool together) const {
  context_.state.note_path(job.transfer->variable, path_number(job, together));
}

bool FieldRouter::must_complete_chunks(const FieldJob& job) const {
  return job.is_encoded() && paths_.encoded.must_complete(job);
}

// Who sets writers wants the stage's; and only what is in the stage can be stored later. What rank 0 put may
// still have to be written, and only the stage keeps that in order.
bool FieldRouter::goes_direct(const FieldJob& job) const {
  return !context_.options.stage.writers && context_.options.background.stored_by == StoredBy::calls &&
         !context_.header.puts().called(job.transfer->variable) && paths_.direct.suits_writing(job);
}

Status FieldRouter::write(const FieldJob& job, bool together) const {
  if (job.is_encoded()) return paths_.encoded.write(job);
  if (together) return paths_.rearranged.write(job);
  if (!goes_direct(job)) return paths_.staged.write(job);
  Status status;
  paths_.staged.complete_overlap(job, status);
  status.merge(paths_.direct.write(job));
  return status;
}

Status FieldRouter::read(FieldJob& job) const {
  if (job.placement->kind == Placement::Kind::library) return paths_.library.read(job);
  if (job.is_encoded()) return paths_.encoded.read(job);
  if (job.addresses_listed) job.addresses = addresses_.find(job);
  if (context_.strategies.rearranges(job)) return paths_.rearranged.read(job);
  const bool in_groups = context_.options.rearranging.rearranger == RearrangerKind::subset;
  if (!in_groups && paths_.direct.suits(job)) return paths_.direct.read(job);
  return paths_.staged.read(job);
}

}  // namespace shoal
