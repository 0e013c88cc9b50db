// SPDX-License-Identifier: BSD-3-Clause
// Fields whose cells go to I/O ranks wait for each other, so that a record takes one rearrangement. Until it
// is full ranks need no message to write: they find out together whether all of them have the same.
#include <algorithm>

#include "base/hash.hpp"
#include "driver/map_cells.hpp"
#include "driver/native/native_driver.hpp"
#include "driver/tile_maps.hpp"

namespace shoal {

NativeDriver::Route NativeDriver::route_of(const FieldJob& job) const {
  Route route;
  if (job.is_encoded()) return route;
  const Strategy& strategy = strategies_.of(job.transfer->decomposition.get()).strategy;
  const bool never = groups_.single() && strategy.rearranging == Rearranging::never;
  const CutStrategy::Field* const known = strategies_.known(job);
  if (header_.puts().waiting() || (known == nullptr && !never)) return route;
  const bool rearranges = !never && known->rearrange;
  if (changes_path(job, rearranges)) return route;
  route.after_queue = queue_.waits(job, rearranges && !job.keeps);
  if (!rearranges) {
    route.matches = job.addresses_listed || route.after_queue;
    return route;
  }
  route.plan = queue_.plan_of(job);
  route.matches = !route.plan || !queue_.fits(*route.plan) || route.after_queue;
  return route;
}

Status NativeDriver::match_write(const Transfer& transfer) {
  const Status mine = transfer.variable < 0 ? transfer.status : Status{};
  return match_queued_write(hash_of_call(transfer.variable, transfer.region), mine);
}

Status NativeDriver::match_queued_write(std::uint64_t what, const Status& mine) {
  Hash details;
  details.add(what);
  if (queue_.is_made()) details.add(state_.hash());
  const CallMatch match =
      match_calls(comm_, {k_writes, details.value(), !mine.ok(), header_.puts().waiting()});
  header_.puts().set_waiting(match.any_flag);
  if (match.same && !match.failed) {
    queue_.send(true);
    return {};
  }
  const Status agreed = match.failed ? comm_.agree(mine) : Status{};
  if (queue_.is_made()) queue_.send(all_wrote_the_same());
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

}  // namespace shoal
