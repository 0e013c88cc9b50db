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

namespace shoal {

/// The shared window of a node's ranks, cut into slots, and the counters by which the ranks work on it
/// together without messages. A *slot generation* is one use of a slot; slot generations are numbered from 0,
/// and all ranks go through the same ones in the same order: slot generation g has slot g % slots(). Its
/// cells lie in the first *buffer* of the window that was free when the first rank opened it, so that memory
/// is touched only when slot generations pile up, and what was used last, and is in the caches, is used
/// again.
///
/// Writing: when the slot is free, every rank copies its cells in and arrives; when all have arrived, shares
/// of the slot generation are claimed and stored by whoever has time; the last share frees the slot. Reading:
/// when the slot is free, shares are claimed and fetched; when all are, every rank copies its cells out and
/// arrives; the last one frees the slot.
///
/// A rank that cannot go on in step with the others calls fail(); everybody's waiting then ends with
/// `broken`.
class Stage {
 public:
  static constexpr std::uint32_t k_most_shares = 32;
  static constexpr auto k_mapped_together = static_cast<std::int64_t>(SharedWindow::k_block);
  static constexpr int k_addresses = 8192;  ///< room for chunk addresses that come with a slot generation
  /// Memory for so many is there from the beginning: for large ones it is taken when they are used.
  static std::uint32_t first_slots(std::int64_t slot_bytes) {
    constexpr std::int64_t k_first_bytes = std::int64_t{4} << 20;
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(k_first_bytes / std::max<std::int64_t>(slot_bytes, 1), 2, 4));
  }

  /// Whom something that is to be done, or was done, matters to: any one of the ranks, as one of them can
  /// store a slot generation, or all.
  enum class Work { for_one, for_all };
  /// What a rank waits for: room for its next slot generation, which comes some slots at a time, so that
  /// ranks go on for a while when they wake; or anything else.
  enum class Awaits { next_slot, anything };

  /// Collective over the node. slot_bytes is a multiple of 4096. Error(no_memory) on all ranks if there is no
  /// room.
  Stage(const Comm& node, int slots, std::int64_t slot_bytes, int writers, double wait_seconds);

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
  /// From now on this rank of the node alone is given shares: others only pack, unpack and wait.
  void set_only_storer(int rank) {
    first_storer_ = rank;
    storers_ = 1;
  }
  /// From now on the ranks of the node from this one on are given the shares. They have no cells of their
  /// own, and make the calls that the others make a little later than these.
  void set_servers(int first) {
    first_storer_ = computing_ = first;
    storers_ = node_->size() - first;
  }
  int storers() const { return storers_; }
  int first_storer() const { return first_storer_; }
  /// Is this rank given shares?
  bool stores() const { return node_->rank() >= first_storer_ && node_->rank() < first_storer_ + storers_; }
  /// Is this rank the only one to do what there is to do?
  bool stores_alone() const { return storers_ == 1 && stores(); }
  const Comm& node() const { return *node_; }
  double wait_seconds() const { return wait_seconds_; }

  /// The number of this rank's next slot generation.
  std::uint64_t take_generation() { return next_++; }
  std::uint64_t next_generation() const { return next_; }
  std::byte* data(std::uint64_t generation) const;
  std::uint64_t* addresses(std::uint64_t generation) const;
  /// For the catalog (Catalog::share_end): where ranks of the node take space at the end of the file.
  std::atomic<std::uint64_t>& file_end() const;

  /// Before anything else is done to a slot generation, by each rank: nobody uses its slot any more, and it
  /// has a buffer.
  bool open(std::uint64_t generation);
  /// This rank is about to use these bytes of a slot generation that is open, from one to before another.
  void map(std::uint64_t generation, std::int64_t begin, std::int64_t end);
  /// Is the slot free, and those of the slot generations that follow, as far as ranks wait for them together?
  bool has_space(std::uint64_t generation) const;
  bool is_free(std::uint64_t generation) const;  ///< nobody uses its slot any more
  bool is_over(std::uint64_t generation)
      const;  ///< the slot generation was stored (or read by all), its slot is free again
  bool all_arrived(std::uint64_t generation) const;
  bool all_done(std::uint64_t generation, std::uint32_t shares) const;

  /// Note what this rank did to the slot generation; all ranks must note the same. Then count it in. True if
  /// it was the last one.
  bool arrive(std::uint64_t generation, std::uint64_t fingerprint, Work work = Work::for_all);
  /// The rank of the node, if any, whose note differs from rank 0's. For who holds a share of the slot
  /// generation: nobody can change the notes meanwhile (or for the last to arrive, before it releases the
  /// slot, when reading).
  std::optional<int> first_mismatch(std::uint64_t generation) const;
  /// Which share a rank would like to have.
  struct ClaimRequest {
    std::uint32_t preferred = 0;  ///< this one, if nobody has it
    bool any = true;              ///< else another one
    bool limited = false;         ///< only while fewer than `writers` ranks hold one that is
  };
  /// A share that nobody has taken, of at most k_most_shares; to be given back with finish.
  std::optional<std::uint32_t> claim(std::uint64_t generation, std::uint32_t shares,
                                     const ClaimRequest& request);
  /// The claimed share is done. True if it was the last one of the slot generation; where shares are limited,
  /// release follows.
  bool finish(std::uint64_t generation, std::uint32_t shares, bool limited);
  /// Are there shares of the slot generation that nobody has taken?
  bool has_unclaimed(std::uint64_t generation, std::uint32_t shares) const;
  /// Is a rank of the node asleep, with nothing better to do than storing?
  bool somebody_waits() const;
  /// For who holds a share of the slot generation, before finish: it was not stored. Marks it for all ranks
  /// of the node, and keeps the first failure there is.
  void report_failure(std::uint64_t generation, const Status& failure);
  /// Was all of the slot generation stored? If not, the first failure of any slot generation. For ranks that
  /// did not arrive yet at the next slot generation of this slot, which is free: all of them see the same.
  Status failure_of(std::uint64_t generation) const;
  /// By one rank, while nothing is under way: the next failure is the first one.
  void forget_failure();
  /// Free the slot; by whoever did the last thing to it.
  void release(std::uint64_t generation, Work work = Work::for_all);
  /// By a rank that was woken and has something else to do: is there a share of the slot generation that
  /// nobody has taken? Then another one is woken.
  void pass_on(std::uint64_t generation, std::uint32_t shares) const;

  /// Sleeps until condition() is true or the stage is broken. While waiting, work() is called and may do
  /// something useful (true: it did). False if the stage is broken: by a rank that failed or departed, or,
  /// after some seconds, where each rank that does not wait here waits for this one in a match of calls.
  /// Error(timeout) after wait_seconds without any progress, with the ranks that are missing; then no call on
  /// the node's Comm waits any more.
  bool wait(std::uint64_t generation, const std::function<bool()>& condition,
            const std::function<bool()>& work, Seconds& blocked, double limit,
            Awaits awaits = Awaits::anything);

  /// For threads that store beside the model's: sleep, for a moment at most, until all may have arrived at
  /// the slot generation, or until there was an event since `seen`. Nobody counts on them as on ranks that
  /// wait.
  void await_arrivals(std::uint64_t generation);
  /// Is it time to store? Not while ranks of the node pack, who would have to share their cores, unless
  /// three quarters of the stage are full or somebody waits for it. Ranks that serve have cores of their own.
  bool is_time_to_store() const;
  /// Does somebody wait for the storing, or will soon?
  bool is_pressed() const;
  std::uint32_t events() const;
  void await_event(std::uint32_t seen);

  /// From now on no more bytes a second are stored by await_turn's callers of the node than these; 0: no
  /// limit.
  void set_rate(double bytes_per_second) { rate_ = bytes_per_second; }
  bool has_rate_limit() const { return rate_ > 0; }
  /// Sleep until so many bytes may be stored, as long as the limit holds and stopped() is false.
  void await_turn(std::int64_t bytes, const std::function<bool()>& stopped) const;
  /// The limit is over, for all ranks of the node.
  void lift_rate_limit() const;

  /// Did all ranks do well? Waits for all of them, asleep, unlike a collective of MPI. False also if the
  /// stage is broken.
  bool agree(bool well, Seconds& blocked);

  /// This rank goes to a match of calls of all ranks (Comm::match_calls), which is outside of the stage. All
  /// ranks of the node must count the same matches.
  void enter_match();

  /// This rank cannot keep step.
  void fail();
  bool broken() const;
  /// Start again at slot generation 0. Collective over the node; nobody may be in any other call.
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
  std::int64_t headers_bytes_;  ///< in front of the buffers
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
  std::shared_ptr<StagePresence> presence_;  ///< where others of the process, and ranks, find the stage
};

}  // namespace shoal
