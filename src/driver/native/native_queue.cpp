// SPDX-License-Identifier: BSD-3-Clause
// Fields whose cells go to I/O ranks wait for each other, so that a record takes one rearrangement. Until it
// is full ranks need no message to write: they find out together whether all of them have the same.
#include <algorithm>

#include "base/hash.hpp"
#include "driver/map_cells.hpp"
#include "driver/native/native_driver.hpp"
#include "driver/tile_maps.hpp"

namespace shoal {

std::optional<Rearranger::Plan> NativeDriver::queue_plan(const FieldJob& job) const {
  if (job.keeps) return std::nullopt;
  Row row;
  const FieldJob in_file = as_flattened(job, is_flattened(job), row);
  const Transfer& transfer = *in_file.transfer;
  const auto rearranger = rearrangers_.find(known_map(transfer.decomposition).get());
  if (rearranger == rearrangers_.end()) return std::nullopt;
  return rearranger->second->plan_of(transfer.region, job.stored(), alignment_of(in_file),
                                     queue_->most_bytes());
}

// in_same_boxes: cells that come again go to the ranks that had them before, in order.
bool NativeDriver::waits(const FieldJob& job, bool in_same_boxes) const {
  const auto found = queued_of_.find(job.transfer->variable);
  if (found == queued_of_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](std::size_t i) {
    const Box& region = queued_[i].transfer.region;
    const bool same = in_same_boxes && region == job.transfer->region && queued_[i].share == job.share;
    return !same && !intersection(region, job.transfer->region).empty();
  });
}

NativeDriver::Route NativeDriver::route_of(const FieldJob& job) const {
  Route route;
  if (job.is_encoded()) return route;
  const Strategy& strategy = strategies_.of(job.transfer->decomposition.get()).strategy;
  const bool never = groups_.single() && strategy.rearranging == Rearranging::never;
  const CutStrategy::Field* const known = strategies_.known(job);
  if (header_.puts().waiting() || (known == nullptr && !never)) return route;
  const bool rearranges = !never && known->rearrange;
  if (changes_path(job, rearranges)) return route;
  route.after_queue = waits(job, rearranges && !job.keeps);
  if (!rearranges) {
    route.matches = job.addresses_listed || route.after_queue;
    return route;
  }
  route.plan = queue_plan(job);
  route.matches = !route.plan || !queue_->fits(*route.plan) || route.after_queue;
  return route;
}

Status NativeDriver::match_write(const Transfer& transfer) {
  const Status mine = transfer.variable < 0 ? transfer.status : Status{};
  return match_queued_write(hash_of_call(transfer.variable, transfer.region), mine);
}

Status NativeDriver::match_queued_write(std::uint64_t what, const Status& mine) {
  Hash details;
  details.add(what);
  if (queue_) details.add(state_.hash());
  const CallMatch match =
      match_calls(comm_, {k_writes, details.value(), !mine.ok(), header_.puts().waiting()});
  header_.puts().set_waiting(match.any_flag);
  if (match.same && !match.failed) {
    send_queued(true);
    return {};
  }
  const Status agreed = match.failed ? comm_.agree(mine) : Status{};
  if (queue_) send_queued(all_wrote_the_same());
  if (!agreed.ok()) return agreed;
  return {Code::out_of_step,
          "ranks made different calls: each writes, but not the same variable or the same record, or some "
          "left out a write before; every rank must make the same calls in the same order",
          0,
          {},
          {}};
}

void NativeDriver::ask_others() {
  if (!state_.must_ask()) return;
  const Status outcome = match_queued_write(0, failure());
  if (!outcome.ok()) throw Error(outcome);
}

bool NativeDriver::all_wrote_the_same() const {
  return state_.compared(comm_.max(state_.to_compare())).same;
}

void NativeDriver::enqueue(const FieldJob& job, const Rearranger::Plan& plan) {
  const Transfer& transfer = *job.transfer;
  Status status = transfer.status;
  staged_.complete_overlap(job, status);
  Transfer packed;
  const bool is_map = transfer.decomposition->map() != nullptr;
  if (!is_map)
    status.merge(pack_tile(transfer, *job.variable, map_of(transfer.decomposition, false), tile_,
                           counters_.pack, packed));
  const Transfer& cells = is_map ? transfer : packed;
  const bool is_row = is_flattened(job);
  const Bytes fill = stored_fill(*job.variable, job.placement->swapped);
  {
    const Timer timer(counters_.pack);
    FieldJob of_cells = job;
    of_cells.transfer = &cells;
    Row row;
    const Transfer& in_file = *as_flattened(of_cells, is_row, row).transfer;
    const ConversionErrors conversion_errors =
        queue_->add(*rearranger_of(in_file), plan, in_file, fill.data());
    if (conversion_errors.count > 0)
      status.merge(mapped_conversion_status(cells, *job.variable, conversion_errors, true));
  }
  Queued queued{{}, job.share, is_row};
  queued.transfer.variable = transfer.variable;
  queued.transfer.region = transfer.region;
  queued.transfer.decomposition = transfer.decomposition;
  queued_of_[transfer.variable].push_back(queued_.size());
  queued_.push_back(std::move(queued));
  keep(located(status, job));
}

void NativeDriver::send_queued(bool same) {
  const auto fields = std::exchange(queued_, {});
  queued_of_.clear();
  if (fields.empty()) return;
  if (!same) return queue_->clear();
  std::vector<FieldJob> jobs;
  for (const auto& field : fields)
    jobs.push_back(context_.job_for(field.transfer));
  const bool listed = std::any_of(jobs.begin(), jobs.end(), [](const auto& j) { return j.addresses_listed; });
  const Status placed = caught([&] {
    if (!listed) return;
    const Bytes message = comm_.from_root([&] {
      ByteWriter out;
      for (const auto& job : jobs)
        out.put(job.addresses_listed ? addresses_.allocate(job) : std::vector<std::uint64_t>{});
      return out.take();
    });
    ByteReader in(message);
    for (auto& job : jobs)
      in.get(job.addresses);
  });
  keep(placed);
  if (!placed.ok()) return queue_->clear();
  const Seconds begin = now();
  const Seconds stored = counters_.store;
  keep(caught([&] {
    queue_->rearrange([&](std::size_t i, const Box& box, std::byte* cells) {
      Row row;
      keep(located(caught([&] { store_box(as_flattened(jobs[i], fields[i].is_row, row), box, cells); }),
                   jobs[i]));
    });
  }));
  queue_->clear();
  counters_.pack += now() - begin - (counters_.store - stored);
  count_messages();
}

}  // namespace shoal
