// SPDX-License-Identifier: BSD-3-Clause
// What the native driver does between writing and a whole file: ranks compare what they wrote, what is in the
// stage is stored, records are counted, and where a rank diverged they are taken back.
#include <algorithm>

#include "base/text.hpp"
#include "driver/native/native_driver.hpp"

namespace shoal {

Status NativeDriver::failure() const {
  Status status = staged_.failure();
  if (loses_bytes(state_.deferred())) status.merge(state_.deferred());
  return status;
}

// A rank that skipped a write does its part in what the others do to match their writes, with nothing.
CallMatch NativeDriver::match_calls(const Comm& comm, const CallSignature& signature) {
  const CallSignature mine = state_.with_skipped(signature, k_writes);
  for (;;) {
    staged_.enter_match();
    CallMatch match;
    const Status came = caught([&] { match = comm.match_calls(mine); });
    if (!came.ok()) {  // no calls are matched any more: nobody may wait in the stage
      staged_.fail();
      throw Error(came);
    }
    if (!match.peers_diverged || !state_.has_skipped()) return match;
    comm_.agree(state_.deferred());
    if (queue_.is_made()) queue_.send(all_wrote_the_same());
  }
}

int NativeDriver::mismatched_writer() const {
  const auto all = comm_.all_gather(static_cast<std::int64_t>(state_.hash()));
  return static_cast<int>(std::find_if(all.begin(), all.end(), [&](auto w) { return w != all[0]; }) -
                          all.begin());
}

void NativeDriver::complete_pending(const char* does) {
  const CallMatch match = match_calls(comm_, state_.signature(does));
  if (!match.same) {  // nobody may wait for what others never do
    const int odd = mismatched_writer();
    if (!match.failed)
      keep(
          {Code::out_of_step,
           "rank " + std::to_string(odd) +
               " wrote other variables or records than rank 0 did, or left some out; all ranks must make the "
               "same write calls in the same order",
           odd,
           {},
           {}});
    state_.diverge();
    header_.puts().set_waiting(true);
    staged_.fail();
  }
  queue_.send(match.same);
  state_.matched();
  direct_.forget_writers();
  if (match.same && !match.any_flag) return;
  if (store_rest()) return;
  state_.lose();
  recover();
}

// Parts of compressed chunks come last, one after the other, as each must know where the one before went.
// False: ranks have diverged.
bool NativeDriver::store_rest() {
  PartialChunkBuffer::PartialChunks kept;
  while (true) {
    keep(staged_.flush());
    staged_.note_shortage();
    if (!compare()) return false;
    keep(caught([&] { enter_stored(); }));
    if (kept.written.empty()) {
      if (parts_->empty()) return true;
      kept = parts_->take_first();
    }
    const Box part = kept.written.front();
    kept.written.erase(kept.written.begin());
    store_part(PartialChunkBuffer::part_of(kept, part));
  }
}

void NativeDriver::recover() {
  staged_.reset();
  parts_->clear();
  stored_.clear();
  state_.complete_pending();
  records_.restart_reach(header_.schema());
  // On one node nothing is stored that the owner, who fills, has not noted. On several, ranks may have noted
  // different things.
  if (!groups_.single()) records_.restart_gaps(header_.schema());
}

// There are as many records as any rank knows of, and bytes are lost if any rank lost some. False: a rank has
// diverged.
bool NativeDriver::compare() {
  if (staged_.is_broken()) state_.diverge();
  // Only the owner knows whether a put was good.
  auto lengths = header_.on_owner() ? lengths_of(header_.schema()) : records_.known(header_.schema());
  const Comparison found = state_.compared(comm_.max(state_.to_compare(std::move(lengths))));
  set_lengths(header_.schema(), found.lengths);
  records_.note_known(header_.schema());
  if (found.any_lost) state_.lose();
  return !found.any_diverged;
}

void NativeDriver::commit(bool durable, bool final) {
  state_.begin_commit();
  // Other nodes find what was committed once it is with the server.
  durable = durable || groups_.sharing() == FileSystem::Sharing::close_to_open;
  if (final) staged_.lift_rate_limit();
  complete_pending("commits");
  bool lost = state_.file() == FileState::incomplete;
  if (!lost) {
    const auto gaps = records_.take_gaps(header_.schema());
    if (header_.on_owner())
      keep(caught([&] {
        for (const auto& gap : gaps)
          addresses_.fill_cells(gap.variable, gap.cells, {});
      }));
  }
  if (durable) keep(caught([&] { file_.sync(); }));
  if (durable) keep(caught([&] { staged_.sync_file(); }));
  if (final) keep(caught([&] { file_.close(); }));
  if (final) keep(caught([&] { staged_.close_file(); }));
  Status outcome = comm_.agree(state_.deferred());
  const Status mine = state_.take_deferred();
  if (!outcome.ok()) lost = comm_.max(std::int64_t{lost || loses_bytes(mine) ? 1 : 0}) != 0;
  for (const int v : header_.puts().commit())
    records_.note_write(header_.schema(), v, Box::whole(header_.schema().shape(v)));
  // Where bytes are missing, the records since the last commit never were: what was half written must not
  // pass for whole.
  if (lost) records_.take_back(header_.schema());
  // Ranks may know of different puts.
  if (!outcome.ok()) records_.restart_reach(header_.schema());
  const Status committed = header_.commit(lost, durable, final);
  ++counters_.commits;
  const bool is_whole = committed.ok() && !lost;
  state_.end_commit(is_whole ? FileState::whole : FileState::unknown);
  if (is_whole) records_.note_committed(header_.schema());
  outcome.merge(committed);
  if (!outcome.ok()) throw Error(outcome);
}

void NativeDriver::write_out_puts(int v) {
  if (v >= 0 && rearrangers_.one_stage())  // nobody of the node stores before the owner has come
    header_.write_out_put(v);
  else
    header_.write_out_puts();
}

void NativeDriver::sync(bool durable) {
  const Timer timer(counters_.commit);
  commit(durable, false);
}

void NativeDriver::submit_pending() {
  if (!state_.has_diverged()) keep(staged_.submit_pending());
}

void NativeDriver::close(bool durable) {
  const Timer timer(counters_.close);
  if (writable_) {
    commit(durable, true);
  } else {
    file_.close();
    header_.close();
  }
}

}  // namespace shoal
