// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "comm/nodes.hpp"
#include "comm/shared_window.hpp"
#include "storage/location.hpp"
#include "storage/object_ends.hpp"

namespace shoal {

/// The shared window of a node's ranks, cut into slots, and the counters by which the ranks work on it
/// together without messages. A *slot generation* is one use of a slot; slot generations are numbered from 0,
/// and all ranks go through the same ones in the same order: slot generation g has slot g % slots(). Its
/// cells lie in the first *buffer* of the window that was free when the first rank opened it, so that memory
/// is touched only when slot generations pile up, and what was used last, and is in the caches, is used
/// again.
///
/// Writing: when the slot is free, every rank copies its cells in and arrives; when all have arrived, ranks
/// that are idle claim shares of the slot generation and store them; the last share frees the slot. Reading:
/// when the slot is free, shares are claimed and fetched; when all are, every rank copies its cells out and
/// arrives; the last one frees the slot.
///
/// A rank that cannot keep step with the others calls fail(): the stage is broken, and all waiting in it
/// ends.
class Stage {
 public:
  static constexpr std::uint32_t k_most_shares = 32;
  static constexpr auto k_mapped_together = static_cast<std::int64_t>(SharedWindow::k_block);
  static constexpr int k_addresses = 8192;  ///< room for chunk addresses that come with a slot generation
  /// The slots that have memory from the beginning; others take it when they are used.
  static std::uint32_t first_slots(std::int64_t slot_bytes) {
    constexpr std::int64_t k_first_bytes = std::int64_t{4} << 20;
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(k_first_bytes / std::max<std::int64_t>(slot_bytes, 1), 2, 4));
  }

  /// The ranks that an event wakes: one, if any of those that sleep can do the work, or all.
  enum class Work { for_one, for_all };
  /// What a rank waits for: room for its next slot generation, which comes several slots at a time, so that a
  /// rank that wakes has some work; or anything else.
  enum class Awaits { next_slot, anything };

  /// Collective over the node. slot_bytes is a multiple of 4096. Error(no_memory) on all ranks if there is no
  /// room.
  Stage(const Comm& node, int slots, std::int64_t slot_bytes, int writers, double wait_seconds,
        bool has_object_ends = false);

  Stage(Stage&&) = default;
  Stage& operator=(Stage&&) = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage();

  int slots() const { return slots_; }
  std::int64_t slot_bytes() const { return slot_bytes_; }
  std::int64_t window_bytes() const { return static_cast<std::int64_t>(window_.size()); }
  std::int64_t usable_bytes() const;  ///< of all slots, less where memory was short when it was needed
  int writers() const { return writers_; }
  /// From now on this rank of the node alone gets shares: others only pack, unpack and wait.
  void set_only_storer(int rank) {
    first_storer_ = rank;
    storers_ = 1;
  }
  /// From now on the ranks of the node from this one on are servers: they alone get shares, have no cells,
  /// and make the calls of the other ranks a little later.
  void set_servers(int first) {
    first_storer_ = computing_ = first;
    storers_ = node_->size() - first;
  }
  int storers() const { return storers_; }
  int first_storer() const { return first_storer_; }
  /// Does this rank get shares?
  bool stores() const { return node_->rank() >= first_storer_ && node_->rank() < first_storer_ + storers_; }
  /// Is this rank the only one that gets shares?
  bool stores_alone() const { return storers_ == 1 && stores(); }
  const Comm& node() const { return *node_; }
  double wait_seconds() const { return wait_seconds_; }

  /// The number of this rank's next slot generation.
  std::uint64_t take_generation() { return next_++; }
  std::uint64_t next_generation() const { return next_; }
  std::byte* data(std::uint64_t generation) const;
  Location* addresses(std::uint64_t generation) const;
  /// The word of Catalog::share_space, by which ranks of the node take space at the end of the file.
  std::atomic<std::uint64_t>& file_end() const;
  /// Where ranks of the node take space in objects (the same), of a dataset that has many.
  ObjectEnds object_ends() const;

  /// Opens a slot generation, before any other call for it, on each rank. False: its slot is in use, or there
  /// is no buffer.
  bool open(std::uint64_t generation);
  /// Maps the pages of the bytes [begin, end) of an open slot generation, which this rank is about to use.
  void map(std::uint64_t generation, std::int64_t begin, std::int64_t end);
  /// Is the slot free, with those of the slot generations that ranks wait for together with it?
  bool has_space(std::uint64_t generation) const;
  /// Is its slot free?
  bool is_free(std::uint64_t generation) const;
  /// Was the slot generation stored (or read by all), so that its slot is free again?
  bool is_over(std::uint64_t generation) const;
  bool all_arrived(std::uint64_t generation) const;
  bool all_done(std::uint64_t generation, std::uint32_t shares) const;

  /// This rank arrives at the slot generation, with a fingerprint of its calls, which must be the same on all
  /// ranks. True: it is the last one.
  bool arrive(std::uint64_t generation, std::uint64_t fingerprint, Work work = Work::for_all);
  /// The first rank of the node whose fingerprint differs from rank 0's. To be called while holding a share
  /// of the slot generation (reading: by the last rank to arrive, before release), when fingerprints cannot
  /// change.
  std::optional<int> first_mismatch(std::uint64_t generation) const;
  /// A request for a share.
  struct ClaimRequest {
    std::uint32_t preferred = 0;  ///< this share, if it is not claimed
    bool any = true;              ///< otherwise any other
    bool limited = false;         ///< only while fewer than `writers` ranks hold a share claimed with limited
  };
  /// Claims a share, of at most k_most_shares; to be ended with finish. Nothing: no share fits the request.
  std::optional<std::uint32_t> claim(std::uint64_t generation, std::uint32_t shares,
                                     const ClaimRequest& request);
  /// Ends a claimed share. True: it was the last one of the slot generation; where shares are limited,
  /// release must follow.
  bool finish(std::uint64_t generation, std::uint32_t shares, bool limited);
  /// Are there shares of the slot generation that are not claimed?
  bool has_unclaimed(std::uint64_t generation, std::uint32_t shares) const;
  /// Is a rank of the node asleep, so that it could store?
  bool somebody_waits() const;
  /// Reports, before finish, that a share was not stored: marks the slot generation as failed for all ranks
  /// of the node, and keeps the first failure.
  void report_failure(std::uint64_t generation, const Status& failure);
  /// Ok if all of the slot generation was stored, else the first failure of any slot generation. The slot
  /// must be free, and this rank not yet have arrived at its next slot generation: then all ranks see the
  /// same.
  Status failure_of(std::uint64_t generation) const;
  /// Forgets the first failure; by one rank, while nothing is under way.
  void forget_failure();
  /// Frees the slot; by the rank that ended the last share, or arrived last.
  void release(std::uint64_t generation, Work work = Work::for_all);
  /// Wakes another rank if there is a share of the slot generation that is not claimed; by a rank that was
  /// woken and has other work.
  void pass_on(std::uint64_t generation, std::uint32_t shares) const;

  /// Sleeps until condition() is true or the stage is broken. While waiting, work() is called and may do
  /// something useful (true: it did). False if the stage is broken: by a rank that failed or departed, or,
  /// after some seconds, where each rank that does not wait here waits for this one in a match of calls.
  /// Error(timeout) after wait_seconds without any progress, with the ranks that are missing; then no call on
  /// the node's Comm waits any more.
  bool wait(std::uint64_t generation, const std::function<bool()>& condition,
            const std::function<bool()>& work, Seconds& blocked, double limit,
            Awaits awaits = Awaits::anything);

  /// For threads that store: sleep until all may have arrived at the slot generation (await_event: until
  /// there is an event after `seen`), for 50 ms at most. These threads do not count as ranks that wait.
  void await_arrivals(std::uint64_t generation);
  /// Is it time for a thread to store? Not while ranks of the node pack, as these would share their cores,
  /// unless is_pressed(). Servers have cores of their own, and store at any time. (Threads that began at half
  /// of a full stage, and went on while ranks wrote again, doubled or tripled the time of a write.)
  bool is_time_to_store() const;
  /// Does a rank wait for room, or are three quarters of the stage full?
  bool is_pressed() const;
  std::uint32_t events() const;
  void await_event(std::uint32_t seen);

  /// Limits the bytes a second that callers of await_turn on this node store; 0: no limit.
  void set_rate(double bytes_per_second) { rate_ = bytes_per_second; }
  bool has_rate_limit() const { return rate_ > 0; }
  /// Sleeps until so many bytes may be stored, the limit is lifted, or stopped() is true.
  void await_turn(std::int64_t bytes, const std::function<bool()>& stopped) const;
  /// Ends the limit for all ranks of the node.
  void lift_rate_limit() const;

  /// Are all ranks well? Waits for all of them, asleep, unlike a collective call of MPI. False also if the
  /// stage is broken.
  bool agree(bool well, Seconds& blocked);

  /// Notes that this rank enters a match of calls of all ranks (Comm::match_calls), outside of the stage. All
  /// ranks of the node must note the same matches.
  void enter_match();

  /// Breaks the stage, as this rank cannot keep step.
  void fail();
  bool broken() const;
  /// Starts again at slot generation 0. Collective over the node; no rank may be in any other call.
  void reset();

 private:
  struct StageHeader;
  struct Slot;
  struct RankProgress;
  class StagePresence;
  StageHeader& header() const;
  Slot& slot(std::uint64_t generation) const;
  RankProgress& progress(int rank) const;
  std::uint64_t* fingerprints(std::uint64_t generation) const;
  std::uint32_t uses_before(std::uint64_t generation) const {
    return static_cast<std::uint32_t>(generation / static_cast<std::uint64_t>(slots_));
  }
  std::uint32_t full_count(std::uint64_t generation) const;
  bool serves() const { return node_->rank() >= computing_; }
  bool batch_is_over(std::uint64_t generation) const;
  void announce(Work work) const;
  std::atomic<std::uint64_t>* taken() const;
  std::optional<std::uint32_t> take_buffer() const;
  void give_back(std::uint32_t buffer) const;
  bool start_storing();
  std::string who_is_missing(std::uint64_t steps) const;
  std::uint64_t steps_for(std::uint64_t generation) const;
  bool one_departed(std::uint64_t steps) const;
  void wait_no_more(double limit, std::uint64_t steps) const;
  bool wait_for_steps(std::uint64_t generation, std::uint64_t steps, const std::function<bool()>& condition,
                      const std::function<bool()>& work, Seconds& blocked, double limit, Awaits awaits);
  bool deadlocked(std::uint64_t generation) const;
  bool is_being_stored(std::uint64_t generation) const;

  const Comm* node_;
  int slots_;
  std::int64_t slot_bytes_;
  std::int64_t slot_header_bytes_;
  std::int64_t headers_bytes_;
  std::int64_t ends_bytes_;     ///< of the table of object_ends(), behind the headers
  std::int64_t buffers_begin_;  ///< behind both
  std::int64_t buffer_bytes_;   ///< cells of a slot generation, and addresses
  int writers_;
  double wait_seconds_;
  int first_storer_ = 0;
  int storers_;
  int computing_;  ///< ranks before those that serve
  double rate_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t arrived_ = 0;  ///< slot generations that this rank arrived at
  std::uint32_t matches_ = 0;  ///< that this rank went to
  SharedWindow window_;
  std::shared_ptr<StagePresence> presence_;  ///< the wait point of the stage
};

}  // namespace shoal
