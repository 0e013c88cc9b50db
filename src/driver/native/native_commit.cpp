// SPDX-License-Identifier: BSD-3-Clause
// What the native driver does between writing and a whole file: ranks compare what they wrote, what is in the
// stage is stored, records are counted, and where a rank diverged they are taken back.
#include <algorithm>

#include "base/text.hpp"
#include "driver/native/native_driver.hpp"

namespace shoal {

Status NativeDriver::failure() const {
  Status status = writer_ ? writer_->failure() : Status{};
  if (loses_bytes(state_.deferred())) status.merge(state_.deferred());
  return status;
}

// A rank that skipped a write does its part in what the others do to match their writes, with nothing.
CallMatch NativeDriver::match_calls(const Comm& comm, const CallSignature& signature) {
  const CallSignature mine = state_.with_skipped(signature, k_writes);
  for (;;) {
    if (stage_) stage_->enter_match();
    CallMatch match;
    const Status came = caught([&] { match = comm.match_calls(mine); });
    if (!came.ok()) {  // no calls are matched any more: nobody may wait in the stage
      if (stage_) stage_->fail();
      throw Error(came);
    }
    if (!match.peers_diverged || !state_.has_skipped()) return match;
    comm_.agree(state_.deferred());
    if (queue_) send_queued(all_wrote_the_same());
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
    puts_.set_waiting(true);
    if (stage_) stage_->fail();
  }
  send_queued(match.same);
  state_.matched();
  if (direct_) direct_->forget_writers();
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
    if (writer_) keep(writer_->flush());
    if (stage_) note_shortage();
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

// The stage takes memory when it needs it, and this node had no more to give. Said once.
void NativeDriver::note_shortage() {
  const std::int64_t usable = stage_->usable_bytes();
  if (usable >= counters_.stage_bytes) return;
  counters_.warnings.push_back("the stage has " + bytes_text(static_cast<double>(usable)) + " in place of " +
                               bytes_text(static_cast<double>(counters_.stage_bytes)) +
                               ", because shared memory is short; give /dev/shm more room (containers: "
                               "--shm-size=1g)");
  counters_.stage_bytes = usable;
}

void NativeDriver::recover() {
  if (stage_) {
    writer_->forget();
    stage_->reset();
  }
  parts_->clear();
  stored_.clear();
  state_.complete_pending();
  records_.restart_reach(schema_);
  // On one node nothing is stored that the owner, who fills, has not noted. On several, ranks may have noted
  // different things.
  if (!nodes_->single()) records_.restart_gaps(schema_);
}

// There are as many records as any rank knows of, and bytes are lost if any rank lost some. False: a rank has
// diverged.
bool NativeDriver::compare() {
  if (stage_ && stage_->broken()) state_.diverge();
  // Only the owner knows whether a put was good.
  auto lengths = owner() ? lengths_of(schema_) : records_.known(schema_);
  const Comparison found = state_.compared(comm_.max(state_.to_compare(std::move(lengths))));
  set_lengths(schema_, found.lengths);
  records_.note_known(schema_);
  if (found.any_lost) state_.lose();
  return !found.any_diverged;
}

void NativeDriver::commit(bool durable, bool final) {
  state_.begin_commit();
  // Other nodes find what was committed once it is with the server.
  durable = durable || sharing_ == FileSystem::Sharing::close_to_open;
  if (final && stage_) stage_->lift_rate_limit();
  complete_pending("commits");
  bool lost = state_.file() == FileState::incomplete;
  if (!lost) {
    const auto gaps = records_.take_gaps(schema_);
    if (owner())
      keep(caught([&] {
        for (const auto& gap : gaps)
          fill_cells(gap.variable, gap.cells, {});
      }));
  }
  if (durable) keep(caught([&] { file_.sync(); }));
  if (durable && writer_) keep(caught([&] { writer_->sync_file(); }));
  if (final) keep(caught([&] { file_.close(); }));
  if (final && writer_) keep(caught([&] { writer_->close_file(); }));
  Status outcome = comm_.agree(state_.deferred());
  const Status mine = state_.take_deferred();
  if (!outcome.ok()) lost = comm_.max(std::int64_t{lost || loses_bytes(mine) ? 1 : 0}) != 0;
  for (const int v : puts_.commit())
    records_.note_write(schema_, v, Box::whole(schema_.shape(v)));
  // Where bytes are missing, the records since the last commit never were: what was half written must not
  // pass for whole.
  if (lost) records_.take_back(schema_);
  // Ranks may know of different puts.
  if (!outcome.ok()) records_.restart_reach(schema_);
  const Status committed = caught([&] {
    comm_.on_root([&] {
      if (lost) {
        // A catalog that is not closed writes nothing more: the file is that of the last commit.
        if (!final) take_back_in_catalog();
        return;
      }
      report_records();
      if (final)
        catalog_->close(durable);
      else
        catalog_->commit(durable);
    });
  });
  ++counters_.commits;
  const bool is_whole = committed.ok() && !lost;
  state_.end_commit(is_whole ? FileState::whole : FileState::unknown);
  if (is_whole) records_.note_committed(schema_);
  outcome.merge(committed);
  reader_.reset();
  if (!outcome.ok()) throw Error(outcome);
}

void NativeDriver::report_records() {
  for (int d = 0; d < static_cast<int>(schema_.dims.size()); ++d) {
    const Dimension& dim = schema_.dims[static_cast<std::size_t>(d)];
    if (dim.unlimited) catalog_->grow(d, dim.length);
  }
}

void NativeDriver::take_back_in_catalog() {
  for (int d = 0; d < static_cast<int>(schema_.dims.size()); ++d) {
    const Dimension& dim = schema_.dims[static_cast<std::size_t>(d)];
    if (dim.unlimited) catalog_->take_back(d, dim.length);
  }
}

void NativeDriver::write_out_puts(int v) {
  const auto write_out = [&](int variable) {
    if (puts_.release(variable)) catalog_->write_out(variable);
  };
  if (v >= 0 && one_stage()) {  // nobody of the node stores before the owner has come
    if (owner()) write_out(v);
    return;
  }
  comm_.on_root([&] {
    for (const int variable : std::set<int>(puts_.held()))
      write_out(variable);
  });
  puts_.set_waiting(false);
}

void NativeDriver::sync(bool durable) {
  const Timer timer(counters_.commit);
  commit(durable, false);
}

void NativeDriver::submit_pending() {
  if (writer_ && !state_.has_diverged()) keep(writer_->submit_pending());
}

void NativeDriver::close(bool durable) {
  const Timer timer(counters_.close);
  if (writable_) {
    commit(durable, true);
  } else {
    file_.close();
    comm_.on_root([&] { catalog_->close(false); });
  }
}

}  // namespace shoal
