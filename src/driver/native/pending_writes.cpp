// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/pending_writes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/hash.hpp"
#include "driver/protocol/call_hash.hpp"

namespace shoal {

Status PendingWrites::failure() const {
  Status status = paths_.staged.failure();
  if (loses_bytes(state_.deferred())) status.merge(state_.deferred());
  return status;
}

// A rank that skipped a write does its part in what the others do to match their writes, with nothing.
CallMatch PendingWrites::match_calls(const Comm& comm, const CallSignature& signature) {
  const CallSignature mine = state_.with_skipped(signature, k_writes);
  for (;;) {
    paths_.staged.enter_match();
    CallMatch match;
    const Status came = caught([&] { match = comm.match_calls(mine); });
    if (!came.ok()) {  // no calls are matched any more: nobody may wait in the stage
      paths_.staged.fail();
      throw Error(came);
    }
    if (!match.peers_diverged || !state_.has_skipped()) return match;
    comm_.agree(state_.deferred());
    if (paths_.queue.is_made()) paths_.queue.send(all_wrote_the_same());
  }
}

Status PendingWrites::match_write(const Transfer& transfer, bool all_before) {
  return match_queued_write(hash_of_call(transfer.variable, transfer.region), {}, all_before);
}

Status PendingWrites::match_refused_write(const Status& why) {
  return match_queued_write(0, why, false);
}

Status PendingWrites::match_queued_write(std::uint64_t what, const Status& mine, bool all_before) {
  Hash details;
  details.add(what);
  details.add(std::uint64_t{all_before ? 1U : 0U});  // ranks that do more after this must all do so
  if (all_before || paths_.queue.is_made()) details.add(state_.hash());
  const CallMatch match =
      match_calls(comm_, {k_writes, details.value(), !mine.ok(), header_.puts().waiting()});
  header_.puts().set_waiting(match.any_flag);
  if (match.same && !match.failed) {
    paths_.queue.send(true);
    return {};
  }
  const Status agreed = match.failed ? comm_.agree(mine) : Status{};
  if (paths_.queue.is_made()) paths_.queue.send(all_wrote_the_same());
  if (!agreed.ok()) return agreed;
  return different_calls();
}

void PendingWrites::ask_others() {
  if (!state_.must_ask()) return;
  const Status outcome = match_queued_write(0, failure(), false);
  if (!outcome.ok()) throw Error(outcome);
}

bool PendingWrites::all_wrote_the_same() const {
  return state_.compared(comm_.max(state_.to_compare())).same;
}

// Of ranks of which some made other calls than others, and all come here.
Status PendingWrites::different_calls() {
  int odd = 0;
  const std::string calls = state_.log().difference(comm_, header_.schema(), &odd);
  return {
      Code::out_of_step,
      fmt::format("{}{}; all ranks must make the same calls in the same order", calls,
                  calls.empty() ? "ranks wrote different variables or records, or some left calls out" : ""),
      odd};
}

void PendingWrites::complete(const char* does) {
  CallSignature mine = state_.signature(does);
  mine.waits = paths_.independent.waits();
  const CallMatch match = match_calls(comm_, mine);
  if (!match.same) {  // nobody may wait for what others never do
    const Status odd = different_calls();
    // What a rank of the stage found says less.
    const bool found_here = state_.deferred().code == Code::out_of_step;
    if (found_here) state_.take_deferred();
    if (found_here || !match.failed) keep(odd);
    state_.diverge();
    header_.puts().set_waiting(true);
    paths_.staged.fail();
  }
  paths_.queue.send(match.same);
  state_.matched();
  paths_.direct.forget_writers();
  if (match.same && !match.any_flag && !match.waits) return;
  if (store_rest()) {
    if (match.waits) keep(paths_.independent.store_waiting());
    return;
  }
  state_.lose();
  recover();
}

// Parts of compressed chunks come last, one after the other, as each must know where the one before went.
// False: ranks have diverged.
bool PendingWrites::store_rest() {
  PartialChunkBuffer::PartialChunks kept;
  while (true) {
    keep(paths_.staged.flush());
    paths_.staged.note_shortage();
    if (!compare()) return false;
    keep(caught([&] { paths_.encoded.enter_stored(); }));
    if (kept.written.empty()) {
      if (paths_.encoded.parts().empty()) return true;
      kept = paths_.encoded.parts().take_first();
    }
    const Box part = kept.written.front();
    kept.written.erase(kept.written.begin());
    keep(paths_.encoded.store_part(PartialChunkBuffer::part_of(kept, part)));
  }
}

// There are as many records as any rank knows of, and bytes are lost if any rank lost some. False: a rank has
// diverged.
bool PendingWrites::compare() {
  if (paths_.staged.is_broken()) state_.diverge();
  // Only the owner knows whether a put was good.
  auto lengths = header_.on_owner() ? lengths_of(header_.schema()) : records_.known(header_.schema());
  const Comparison found = state_.compared(comm_.max(state_.to_compare(std::move(lengths))));
  set_lengths(header_.schema(), found.lengths);
  records_.note_known(header_.schema());
  if (found.any_lost) state_.lose();
  return !found.any_diverged;
}

void PendingWrites::recover() {
  paths_.staged.reset();
  paths_.encoded.clear();
  state_.complete_pending();
  records_.restart_reach(header_.schema());
  // On one node nothing is stored that the owner, who fills, has not noted. On several, ranks may have noted
  // different things.
  if (!context_.groups.single()) records_.restart_gaps(header_.schema());
}

void PendingWrites::commit(bool durable, bool final) {
  state_.begin_commit();
  // Other nodes find what was committed once it is with the server.
  durable = durable || context_.groups.sharing() == FileSystem::Sharing::close_to_open;
  if (final) paths_.staged.lift_rate_limit();
  // What rank 0 put is in the file before any rank syncs: one commit of the device has all.
  if (durable) write_ahead(false);
  complete("commits");
  bool lost = state_.file() == FileState::incomplete;
  std::vector<RecordFillTracker::Gap> gaps;
  if (!lost) gaps = records_.take_gaps(header_.schema());
  lost = !fill(gaps) || lost;
  finish_data(durable, final);
  Status outcome = comm_.agree(state_.deferred());
  const Status mine = state_.take_deferred();
  if (!outcome.ok()) lost = comm_.max(std::int64_t{lost || loses_bytes(mine) ? 1 : 0}) != 0;
  if (lost && !outcome.ok() && !loses_bytes(outcome)) {  // what another rank lost says more
    const Status loss = comm_.agree(loses_bytes(mine) ? mine : Status{});
    if (!loss.ok()) outcome = loss;
  }
  if (lost) records_.put_back(header_.schema(), gaps);
  count_records(lost, outcome.ok());
  const Status committed = header_.commit(lost, durable, final);
  ++context_.counters.commits;
  const bool is_whole = committed.ok() && !lost;
  if (!final) {
    keep(caught([&] { context_.file.note_committed(); }));
    keep(caught([&] { paths_.staged.note_committed(); }));
  }
  // After a commit that failed the owner may still hold what was put: ranks go on together until it is there.
  const bool holds = !is_whole && comm_.max(std::int64_t{header_.puts().held().empty() ? 0 : 1}) != 0;
  header_.puts().commit(holds);
  state_.end_commit(is_whole ? FileState::whole : FileState::unknown);
  if (is_whole) {
    records_.note_committed(header_.schema());
    paths_.independent.note_committed();
    if (!final) paths_.independent.make_rest_ready();
  } else {
    paths_.independent.forget_addresses();
  }
  outcome.merge(committed);
  if (!outcome.ok()) throw Error(outcome);
}

// By the owner; false: it could not.
bool PendingWrites::fill(const std::vector<RecordFillTracker::Gap>& gaps) {
  if (!header_.on_owner()) return true;
  for (const auto& gap : gaps) {
    const Status filled = caught([&] { addresses_.fill_cells(gap.variable, gap.cells, {}); });
    if (filled.ok()) continue;
    keep(named(filled, header_.variable(gap.variable).name));
    return false;
  }
  return true;
}

void PendingWrites::write_ahead(bool sync) {
  if (state_.file() == FileState::incomplete || !state_.deferred().ok()) return;
  keep(caught([&] { header_.write_ahead(sync); }));
}

// Of this thread's handle of the file, and of that of the thread that stores.
void PendingWrites::finish_data(bool durable, bool final) {
  if (durable) {
    keep(caught([&] { context_.file.sync(); }));
    keep(caught([&] { paths_.staged.sync_file(); }));
    write_ahead(true);
  }
  if (final) {
    keep(caught([&] { context_.file.close(); }));
    keep(caught([&] { paths_.staged.close_file(); }));
  }
}

void PendingWrites::count_records(bool lost, bool all_well) {
  for (const int v : header_.puts().calls())
    records_.note_write(header_.schema(), v, Box::whole(header_.schema().shape(v)));
  // Where bytes are missing, the records since the last commit never were: what was half written must not
  // pass for whole.
  if (lost) records_.take_back(header_.schema());
  // Ranks may know of different puts.
  if (!all_well) records_.restart_reach(header_.schema());
}

void PendingWrites::agree_on_read(const Status& status) {
  if (context_.groups.single() && paths_.staged.agree(status.ok())) return;
  match_calls(comm_, {"reads"});  // others may never come
  const Status agreed = comm_.agree(status);
  const bool broken = comm_.max(std::int64_t{paths_.staged.is_broken() ? 1 : 0}) != 0;
  if (broken) recover();
  if (!agreed.ok()) throw Error(agreed);
  if (broken) throw Error(Code::out_of_step, "a rank of another node could not go on");
}

}  // namespace shoal
