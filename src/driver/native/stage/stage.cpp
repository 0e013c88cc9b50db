// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/stage/stage.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include "comm/wait_state.hpp"

namespace shoal {

namespace {
constexpr std::int64_t k_page = 4096;
constexpr std::uint32_t k_bits = 64;
constexpr double k_nano = 1e9;
constexpr std::int64_t k_progress_bytes = 16;
std::int64_t nanoseconds() {
  return static_cast<std::int64_t>(now() * k_nano);
}
constexpr std::int64_t rounded_up(std::int64_t n, std::int64_t to) {
  return (n + to - 1) / to * to;
}
// Slots that ranks wait for together. Ranks that wake for each single one pack little and sleep again, and
// take the core of the rank that stores. With this, and with one rank in place of all that wakes for a full
// slot (announce), 64 ranks on 2 cores take 0.64 s in place of 0.84 (E1 large), 32 ranks 0.45 in place of
// 0.50.
constexpr int k_batch = 4;
constexpr double k_deadlock_interval = 5;         // seconds without progress when nobody could make any
constexpr double k_clock_check_interval = 0.25;   // seconds between two looks at the clock of a waiting rank
constexpr double k_packing_idle_interval = 1e-3;  // without packing, and it is over
constexpr double k_idle_poll_interval =
    0.05;  // of a thread that stores: until it sees that it is not needed any more
}  // namespace

// Both live in the window: zero is their first state, and nothing in them is a pointer.
struct Stage::StageHeader {
  SharedWord events;    ///< counts everything that somebody may wait for
  SharedWord waiting;   ///< ranks asleep on events
  SharedWord watching;  ///< those of them that do not wait for room
  SharedWord storers;   ///< threads and ranks that serve, beside them, asleep on events
  SharedWord broken;
  SharedWord active;   ///< shares being stored now
  SharedWord votes;    ///< ranks that came to agree
  SharedWord against;  ///< one of them did not do well
  SharedWord verdict;  ///< of the last round
  SharedWord rounds;   ///< agreements so far
  SharedWord matches;  ///< that ranks went to, all together
  alignas(64) std::atomic<std::uint64_t> file_end;
  std::atomic<std::int64_t> next_turn;  ///< nanoseconds of the clock that all processes of a node share
  SharedWord rate_limit_lifted;
  std::atomic<std::int64_t> packed;  ///< when a rank last did, by the same clock
  SharedWord in_use;                 ///< buffers that slot generations have
  SharedWord buffers;                ///< that may be used beyond the first ones, so far
  SharedWord no_more;                ///< memory is short: there will be no further ones
  SharedWord reported;               ///< what follows is 0: free, 1: being written, 2: there
  SharedWord code, rank;
  std::array<char, 256> variable;
  std::array<char, 1024> message;
};

/// The progress of a rank, for the other ranks.
struct Stage::RankProgress {
  std::atomic<std::uint64_t> steps;  ///< arrivals and votes, which come in the same order on all ranks
  SharedWord departed;               ///< 1: it makes no more steps
};

/// The wait point of the stage, for this process and for ranks that wait for this one. It stays at its
/// address when the stage is moved.
class Stage::StagePresence : public WaitPoint {
 public:
  /// shared: by several ranks; nobody waits for another at a stage of one rank, whose window has no name.
  StagePresence(WaitState& wait_state, StageHeader& header, RankProgress& progress, std::int64_t id,
                bool shared)
      : wait_state_(&wait_state),
        board_(shared ? wait_state.board.get() : nullptr),
        header_(&header),
        progress_(&progress),
        id_(id) {
    wait_state_->wait_points.push_back(this);
    if (board_ != nullptr) board_->add(id_, *this);
  }
  ~StagePresence() override {
    std::erase(wait_state_->wait_points, this);
    if (board_ != nullptr) board_->remove(id_);
    progress_->departed.store(1, std::memory_order_release);
    wake_all_of(*header_);
  }
  std::uint64_t done_here() const override { return progress_->steps.load(std::memory_order_relaxed); }
  bool is_broken() const override { return header_->broken.load(std::memory_order_acquire) != 0; }
  // Which error it is ranks find in the match of calls that follows.
  Status break_off(const Status& status) override {
    header_->broken.store(1, std::memory_order_release);
    wake_all_of(*header_);
    return status;
  }
  WaitState& wait_state() const override { return *wait_state_; }
  static void wake_all_of(StageHeader& header) {
    header.events.fetch_add(1, std::memory_order_seq_cst);
    wake_all(header.events);
  }

 private:
  WaitState* wait_state_;
  ProgressBoard* board_;
  StageHeader* header_;
  RankProgress* progress_;
  std::int64_t id_;
};

struct alignas(64) Stage::Slot {
  SharedWord buffer;  ///< where the slot generation's cells are, from 1; 0: nowhere yet
  SharedWord
      arrived;  ///< ranks, over all slot generations of the slot: a sleeper finds each arrival, however late
  SharedWord served;   ///< those of them that serve
  SharedWord storers;  ///< threads asleep on arrived
  SharedWord done;
  std::array<SharedWord, 2> failed;  ///< of this slot generation and the one before it in the slot, in turns
  SharedWord uses;                   ///< slot generations of this slot that are over
  alignas(64) std::atomic<std::uint64_t> claims;  ///< uses before << 32 | a bit for each share taken
};

Stage::Stage(const Comm& node, int slots, std::int64_t slot_bytes, int writers, double wait_seconds,
             bool has_object_ends)
    : node_(&node),
      slots_(slots),
      slot_bytes_(slot_bytes),
      slot_header_bytes_(
          rounded_up(static_cast<std::int64_t>(sizeof(Slot)) + 8 * node.size(), alignof(Slot))),
      headers_bytes_(rounded_up(
          k_page + slots * slot_header_bytes_ + slots / 64 * 8 + 8 + k_progress_bytes * node.size(),
          k_mapped_together)),
      ends_bytes_(has_object_ends
                      ? rounded_up(static_cast<std::int64_t>(ObjectEnds::k_bytes), k_mapped_together)
                      : 0),
      buffers_begin_(headers_bytes_ + ends_bytes_),
      buffer_bytes_(rounded_up(slot_bytes + k_addresses * static_cast<std::int64_t>(sizeof(Location)),
                               k_mapped_together)),
      writers_(writers),
      wait_seconds_(wait_seconds),
      storers_(node.size()),
      computing_(node.size()),
      window_(SharedWindow::kept_or_new(
          node, static_cast<std::size_t>(buffers_begin_ + slots * buffer_bytes_),
          static_cast<std::size_t>(buffers_begin_ +
                                   std::min<std::int64_t>(slots, first_slots(slot_bytes)) * buffer_bytes_),
          static_cast<std::size_t>(buffers_begin_))) {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  static_assert(sizeof(StageHeader) <= k_page && sizeof(RankProgress) <= k_progress_bytes);
  presence_ = std::make_shared<StagePresence>(node.wait_state(), header(), progress(node.rank()),
                                              window_.id(), node.size() > 1);
}

Stage::~Stage() {
  presence_.reset();
  window_.keep();
}

Stage::StageHeader& Stage::header() const {
  return *std::launder(reinterpret_cast<StageHeader*>(window_.data()));
}

Stage::RankProgress& Stage::progress(int rank) const {
  return *std::launder(reinterpret_cast<RankProgress*>(window_.data() + k_page + slots_ * slot_header_bytes_ +
                                                       slots_ / 64 * 8 + 8 + rank * k_progress_bytes));
}

std::atomic<std::uint64_t>& Stage::file_end() const {
  return header().file_end;
}

ObjectEnds Stage::object_ends() const {
  return ends_bytes_ > 0
             ? ObjectEnds(std::launder(reinterpret_cast<ObjectEnds::Entry*>(window_.data() + headers_bytes_)))
             : ObjectEnds();
}

Stage::Slot& Stage::slot(std::uint64_t generation) const {
  const auto i = static_cast<std::int64_t>(generation % static_cast<std::uint64_t>(slots_));
  return *std::launder(reinterpret_cast<Slot*>(window_.data() + k_page + i * slot_header_bytes_));
}

std::uint64_t* Stage::fingerprints(std::uint64_t generation) const {
  return reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::byte*>(&slot(generation)) + sizeof(Slot));
}

Location* Stage::addresses(std::uint64_t generation) const {
  return std::launder(reinterpret_cast<Location*>(data(generation) + slot_bytes_));
}

std::byte* Stage::data(std::uint64_t generation) const {
  const auto buffer = slot(generation).buffer.load(std::memory_order_acquire);
  return window_.data() + buffers_begin_ + (static_cast<std::int64_t>(buffer) - 1) * buffer_bytes_;
}

// A bit for each buffer that a slot generation has.
std::atomic<std::uint64_t>* Stage::taken() const {
  return std::launder(
      reinterpret_cast<std::atomic<std::uint64_t>*>(window_.data() + k_page + slots_ * slot_header_bytes_));
}

// The first one that is free. There are as many as slots, so that one is found unless memory is short.
std::optional<std::uint32_t> Stage::take_buffer() const {
  StageHeader& h = header();
  const auto all = static_cast<std::uint32_t>(slots_);
  while (true) {
    const std::uint32_t more = h.buffers.load(std::memory_order_acquire);
    const std::uint32_t usable = std::min(all, first_slots(slot_bytes_) + more);
    for (std::uint32_t first = 0; first < usable; first += k_bits) {
      std::atomic<std::uint64_t>& word = taken()[first / k_bits];
      std::uint64_t seen = word.load(std::memory_order_relaxed);
      while (true) {
        const auto bit = static_cast<std::uint32_t>(std::countr_one(seen));
        if (bit == k_bits || first + bit >= usable) break;
        if (word.compare_exchange_weak(seen, seen | (std::uint64_t{1} << bit), std::memory_order_acquire)) {
          h.in_use.fetch_add(1, std::memory_order_relaxed);
          return first + bit;
        }
      }
    }
    if (usable == all || h.no_more.load(std::memory_order_relaxed) != 0) return std::nullopt;
    const auto at = static_cast<std::size_t>(buffers_begin_ + usable * buffer_bytes_);
    if (!window_.reserve(at, static_cast<std::size_t>(buffer_bytes_))) {
      h.no_more.store(1, std::memory_order_relaxed);
      return std::nullopt;
    }
    std::uint32_t before = more;
    h.buffers.compare_exchange_strong(before, more + 1, std::memory_order_acq_rel);
  }
}

std::int64_t Stage::usable_bytes() const {
  const StageHeader& h = header();
  if (h.no_more.load(std::memory_order_relaxed) == 0) return slots_ * slot_bytes_;
  return std::min<std::int64_t>(slots_, first_slots(slot_bytes_) + h.buffers.load()) * slot_bytes_;
}

void Stage::give_back(std::uint32_t buffer) const {
  header().in_use.fetch_sub(1, std::memory_order_relaxed);
  taken()[buffer / k_bits].fetch_and(~(std::uint64_t{1} << buffer % k_bits), std::memory_order_release);
}

bool Stage::open(std::uint64_t generation) {
  if (!is_free(generation)) return false;
  SharedWord& buffer = slot(generation).buffer;
  std::uint32_t seen = buffer.load(std::memory_order_acquire);
  if (seen == 0) {
    const auto mine = take_buffer();
    // Another rank may be quicker.
    if (!mine) {
      seen = buffer.load(std::memory_order_acquire);
      if (seen == 0) return false;
    } else if (buffer.compare_exchange_strong(seen, *mine + 1, std::memory_order_acq_rel)) {
      seen = *mine + 1;
    } else {
      give_back(*mine);
      announce(Work::for_all);
    }
  }
#ifdef __SANITIZE_THREAD__
  // As in is_free: the buffer may have been another slot's, which this rank's thread was done with.
  for (int s = 0; s < slots_; ++s)
    slot(static_cast<std::uint64_t>(s)).done.load(std::memory_order_acquire);
#endif
  return true;
}

// Ranks begin at different ones: whose pages another rank has touched already come many at a time.
void Stage::map(std::uint64_t generation, std::int64_t begin, std::int64_t end) {
  const auto at = static_cast<std::size_t>(data(generation) - window_.data());
  const auto first = at + static_cast<std::size_t>(begin);
  const auto last = at + static_cast<std::size_t>(end);
  const auto own = first + (last - first) * static_cast<std::size_t>(node_->rank()) /
                               static_cast<std::size_t>(node_->size());
  window_.map(own, last);
  window_.map(first, own);
}

bool Stage::is_free(std::uint64_t generation) const {
  const bool is = slot(generation).uses.load(std::memory_order_acquire) == uses_before(generation);
#ifdef __SANITIZE_THREAD__
  // A rank that freed the slot saw that this rank's thread was done, and ThreadSanitizer does not see that
  // rank.
  slot(generation).done.load(std::memory_order_acquire);
#endif
  return is;
}

bool Stage::is_over(std::uint64_t generation) const {
  // Signed difference, so that it stays right when the count wraps.
  return static_cast<std::int32_t>(slot(generation).uses.load(std::memory_order_seq_cst) -
                                   uses_before(generation)) > 0;
}

// The slot's count when all ranks have arrived at the slot generation.
std::uint32_t Stage::full_count(std::uint64_t generation) const {
  return (uses_before(generation) + 1U) * static_cast<std::uint32_t>(node_->size());
}

bool Stage::all_arrived(std::uint64_t generation) const {
  return is_free(generation) &&
         slot(generation).arrived.load(std::memory_order_acquire) == full_count(generation);
}

bool Stage::all_done(std::uint64_t generation, std::uint32_t shares) const {
  return is_over(generation) || slot(generation).done.load(std::memory_order_acquire) == shares;
}

bool Stage::arrive(std::uint64_t generation, std::uint64_t fingerprint, Work work) {
  Slot& s = slot(generation);
  header().packed.store(nanoseconds(), std::memory_order_relaxed);
  fingerprints(generation)[node_->rank()] = fingerprint;
  ++arrived_;
  progress(node_->rank()).steps.fetch_add(1, std::memory_order_release);
  if (serves()) s.served.fetch_add(1, std::memory_order_relaxed);
  const bool last = s.arrived.fetch_add(1, std::memory_order_seq_cst) + 1 == full_count(generation);
  if (last) {
    announce(work);
    if (s.storers.load(std::memory_order_seq_cst) > 0) wake_all(s.arrived);
  }
  return last;
}

std::optional<int> Stage::first_mismatch(std::uint64_t generation) const {
  const std::uint64_t* all = fingerprints(generation);
  for (int r = 1; r < node_->size(); ++r)
    if (all[r] != all[0]) return r;
  return std::nullopt;
}

bool Stage::start_storing() {
  std::uint32_t active = header().active.load(std::memory_order_acquire);
  while (active < static_cast<std::uint32_t>(writers_))
    if (header().active.compare_exchange_weak(active, active + 1, std::memory_order_acq_rel)) return true;
  return false;
}

std::optional<std::uint32_t> Stage::claim(std::uint64_t generation, std::uint32_t shares,
                                          const ClaimRequest& request) {
  if (!stores()) return std::nullopt;
  Slot& s = slot(generation);
  std::uint64_t seen = s.claims.load(std::memory_order_acquire);
  // The share to take, of those that are left.
  const auto pick = [&]() -> std::optional<std::uint32_t> {
    if (static_cast<std::uint32_t>(seen >> 32) != uses_before(generation)) return std::nullopt;
    const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << shares) - 1);
    const std::uint32_t left = ~static_cast<std::uint32_t>(seen) & all;
    if (((left >> request.preferred) & 1U) != 0) return request.preferred;
    if (left == 0 || !request.any) return std::nullopt;
    return static_cast<std::uint32_t>(std::countr_zero(left));
  };
  auto share = pick();
  if (!share || (request.limited && !start_storing())) return std::nullopt;
  while (share && !s.claims.compare_exchange_weak(seen, seen | (std::uint64_t{1} << *share),
                                                  std::memory_order_acq_rel))
    share = pick();
  if (!share && request.limited) {  // somebody may have been turned away meanwhile
    header().active.fetch_sub(1, std::memory_order_acq_rel);
    announce(Work::for_all);
  }
  return share;
}

bool Stage::finish(std::uint64_t generation, std::uint32_t shares, bool limited) {
  if (limited) header().active.fetch_sub(1, std::memory_order_acq_rel);
  const bool last = slot(generation).done.fetch_add(1, std::memory_order_acq_rel) + 1 == shares;
  if (limited && !last) announce(Work::for_one);  // or else who frees the slot does
  if (!limited && last) announce(Work::for_all);
  return last;
}

bool Stage::has_unclaimed(std::uint64_t generation, std::uint32_t shares) const {
  const std::uint64_t claims = slot(generation).claims.load(std::memory_order_acquire);
  const std::uint64_t all = (std::uint64_t{1} << shares) - 1;
  return static_cast<std::uint32_t>(claims >> 32) == uses_before(generation) && (~claims & all) != 0;
}

bool Stage::somebody_waits() const {
  return header().waiting.load(std::memory_order_seq_cst) > 0;
}

void Stage::report_failure(std::uint64_t generation, const Status& failure) {
  StageHeader& h = header();
  std::uint32_t nobody = 0;
  if (h.reported.compare_exchange_strong(nobody, 1, std::memory_order_acq_rel)) {
    h.code.store(static_cast<std::uint32_t>(failure.code), std::memory_order_relaxed);
    h.rank.store(static_cast<std::uint32_t>(failure.rank), std::memory_order_relaxed);
    // The last byte stays zero.
    std::strncpy(h.variable.data(), failure.variable.c_str(), h.variable.size() - 1);
    std::strncpy(h.message.data(), failure.message.c_str(), h.message.size() - 1);
    h.reported.store(2, std::memory_order_release);
  }
  slot(generation).failed[uses_before(generation) % 2].store(1, std::memory_order_release);
}

Status Stage::failure_of(std::uint64_t generation) const {
  StageHeader& h = header();
  if (slot(generation).failed[uses_before(generation) % 2].load(std::memory_order_acquire) == 0) return {};
  // Somebody else's failure was the first, and may be half written.
  while (h.reported.load(std::memory_order_acquire) == 1)
    std::this_thread::yield();
  return {static_cast<Code>(h.code.load()),
          h.message.data(),
          static_cast<int>(h.rank.load()),
          {},
          h.variable.data()};
}

void Stage::forget_failure() {
  header().reported.store(0, std::memory_order_release);
}

void Stage::release(std::uint64_t generation, Work work) {
  Slot& s = slot(generation);
  if (const auto buffer = s.buffer.exchange(0, std::memory_order_acq_rel); buffer != 0) give_back(buffer - 1);
  s.done.store(0, std::memory_order_relaxed);
  // Of the slot generation before, which all ranks have looked at; the next one's is to be there.
  s.failed[(uses_before(generation) + 1U) % 2].store(0, std::memory_order_relaxed);
  s.claims.store(std::uint64_t{uses_before(generation) + 1U} << 32, std::memory_order_relaxed);
  // Of two that free the last slots of a batch at the same time, one sees that all are.
  s.uses.fetch_add(1, std::memory_order_seq_cst);
  announce(batch_is_over(generation) ? Work::for_all : work);
}

bool Stage::batch_is_over(std::uint64_t generation) const {
  const auto batch = static_cast<std::uint64_t>(std::min(slots_ / 2, k_batch));
  const std::uint64_t first = generation / batch * batch;
  for (std::uint64_t f = first; f < first + batch; ++f)
    if (!is_over(f)) return false;
  return true;
}

bool Stage::has_space(std::uint64_t generation) const {
  const auto slots = static_cast<std::uint64_t>(slots_);
  return generation < slots || batch_is_over(generation - slots);
}

// One is enough only where any of those that sleep can do the work.
void Stage::announce(Work work) const {
  StageHeader& h = header();
  h.events.fetch_add(1, std::memory_order_seq_cst);
  const bool storers = h.storers.load(std::memory_order_seq_cst) > 0;
  if (!storers && h.waiting.load(std::memory_order_seq_cst) == 0) return;
  const bool alike = !storers && h.watching.load(std::memory_order_seq_cst) == 0 &&
                     h.no_more.load(std::memory_order_seq_cst) == 0 && storers_ == node_->size();
  if (work == Work::for_one && alike)
    wake_one(h.events);
  else
    wake_all(h.events);
}

void Stage::pass_on(std::uint64_t generation, std::uint32_t shares) const {
  if (all_arrived(generation) && has_unclaimed(generation, shares)) announce(Work::for_one);
}

void Stage::await_arrivals(std::uint64_t generation) {
  Slot& s = slot(generation);
  s.storers.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t seen = s.arrived.load(std::memory_order_seq_cst);
  // Signed difference, so that it stays right when the count wraps.
  if (static_cast<std::int32_t>(seen - full_count(generation)) < 0 && !broken())
    wait_while(s.arrived, seen, k_idle_poll_interval);
  s.storers.fetch_sub(1, std::memory_order_seq_cst);
}

bool Stage::is_time_to_store() const {
  const StageHeader& h = header();
  return serves() || is_pressed() ||
         static_cast<double>(nanoseconds() - h.packed.load(std::memory_order_relaxed)) >
             k_packing_idle_interval * k_nano;
}

bool Stage::is_pressed() const {
  return somebody_waits() || broken() ||
         4 * header().in_use.load(std::memory_order_relaxed) >= 3 * static_cast<std::uint32_t>(slots_);
}

std::uint32_t Stage::events() const {
  return header().events.load(std::memory_order_seq_cst);
}

void Stage::await_event(std::uint32_t seen) {
  header().storers.fetch_add(1, std::memory_order_seq_cst);
  wait_while(header().events, seen, k_idle_poll_interval);
  header().storers.fetch_sub(1, std::memory_order_seq_cst);
}

void Stage::await_turn(std::int64_t bytes, const std::function<bool()>& stopped) const {
  if (rate_ <= 0) return;
  StageHeader& h = header();
  const auto takes = static_cast<std::int64_t>(static_cast<double>(bytes) / rate_ * k_nano);
  std::int64_t free_from = h.next_turn.load(std::memory_order_relaxed);
  std::int64_t turn = 0;
  do {
    turn = std::max(free_from, nanoseconds());
  } while (!h.next_turn.compare_exchange_weak(free_from, turn + takes, std::memory_order_relaxed));
  while (true) {
    const std::int64_t rest = turn - nanoseconds();
    if (rest <= 0 || h.rate_limit_lifted.load(std::memory_order_acquire) != 0 || broken() || stopped())
      return;
    std::this_thread::sleep_for(
        std::min(std::chrono::nanoseconds(rest),
                 std::chrono::nanoseconds(static_cast<std::int64_t>(k_idle_poll_interval * k_nano))));
    announce(Work::for_all);  // who waits for the slot sees that somebody works on it
  }
}

void Stage::lift_rate_limit() const {
  header().rate_limit_lifted.store(1, std::memory_order_release);
}

// Until others have arrived at a slot generation that this rank has arrived at; or at the one that had its
// slot before.
std::uint64_t Stage::steps_for(std::uint64_t generation) const {
  const std::uint64_t steps = presence_->done_here();
  const auto slots = static_cast<std::uint64_t>(slots_);
  if (generation < arrived_) return steps - (arrived_ - (generation + 1));
  return generation >= slots && generation - slots < arrived_ ? steps - (arrived_ - (generation - slots + 1))
                                                              : 0;
}

bool Stage::wait(std::uint64_t generation, const std::function<bool()>& condition,
                 const std::function<bool()>& work, Seconds& blocked, double limit, Awaits awaits) {
  return wait_for_steps(generation, steps_for(generation), condition, work, blocked, limit, awaits);
}

// The board has what this rank waits for, but not where ranks serve: these are behind the others, so that
// nothing follows from it.
bool Stage::wait_for_steps(std::uint64_t generation, std::uint64_t steps,
                           const std::function<bool()>& condition, const std::function<bool()>& work,
                           Seconds& blocked, double limit, Awaits awaits) {
  StageHeader& h = header();
  struct WaitOnBoard {
    ProgressBoard* board = nullptr;
    ~WaitOnBoard() {
      if (board != nullptr) board->end_wait();
    }
  } waits;
  Seconds quiet_since = now();
  std::uint32_t last_events = h.events.load(std::memory_order_seq_cst);
  while (true) {
    const std::uint32_t events = h.events.load(std::memory_order_seq_cst);
    // In this order: what has come true counts, even if somebody has failed in the next step meanwhile.
    if (condition()) return true;
    if (broken()) return false;
    if (work()) {
      // Others of this core have cells to pack, and some other rank may have nothing better to do than this.
      std::this_thread::yield();
      quiet_since = now();
      continue;
    }
    if (events != last_events) {
      last_events = events;
      quiet_since = now();
    } else if ((now() - quiet_since > k_deadlock_interval && deadlocked(generation)) || one_departed(steps)) {
      fail();
      return false;
    } else if (now() - quiet_since > limit) {
      wait_no_more(limit, steps);
    }
    const Timer timer(blocked);
    if (waits.board == nullptr && node_->wait_state().board && node_->size() > 1 &&
        computing_ == node_->size()) {
      waits.board = node_->wait_state().board.get();
      waits.board->wait_for({window_.id(), steps});
    }
    SharedWord& asleep = serves() ? h.storers : h.waiting;
    const std::uint32_t watches = awaits == Awaits::next_slot ? 0 : 1;
    h.watching.fetch_add(watches, std::memory_order_seq_cst);
    asleep.fetch_add(1, std::memory_order_seq_cst);
    wait_while(h.events, events, std::min(k_clock_check_interval, limit));
    asleep.fetch_sub(1, std::memory_order_seq_cst);
    h.watching.fetch_sub(watches, std::memory_order_seq_cst);
  }
}

// A rank that dropped the stage makes no more steps.
bool Stage::one_departed(std::uint64_t steps) const {
  for (int r = 0; r < node_->size(); ++r)
    if (progress(r).departed.load(std::memory_order_acquire) != 0 &&
        progress(r).steps.load(std::memory_order_acquire) < steps)
      return true;
  return false;
}

void Stage::wait_no_more(double limit, std::uint64_t steps) const {
  throw Error(
      node_->wait_state().break_off(timeout_status(limit, node_->wait_state().call, who_is_missing(steps))));
}

bool Stage::agree(bool well, Seconds& blocked) {
  StageHeader& h = header();
  const std::uint32_t round = h.rounds.load(std::memory_order_acquire);
  progress(node_->rank()).steps.fetch_add(1, std::memory_order_release);
  if (!well) h.against.store(1, std::memory_order_relaxed);
  if (h.votes.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint32_t>(node_->size())) {
    // Nobody votes again before this round is over, so these are ours alone.
    h.verdict.store(h.against.exchange(0, std::memory_order_acq_rel), std::memory_order_relaxed);
    h.votes.store(0, std::memory_order_relaxed);
    h.rounds.fetch_add(1, std::memory_order_release);
    announce(Work::for_all);
  } else {
    const auto over = [&] { return h.rounds.load(std::memory_order_acquire) != round; };
    const auto nothing = [] { return false; };
    // Who gives up breaks the stage for all of them.
    if (!wait_for_steps(next_, presence_->done_here(), over, nothing, blocked, wait_seconds_,
                        Awaits::anything))
      return false;
  }
  return h.verdict.load(std::memory_order_acquire) == 0;
}

std::string Stage::who_is_missing(std::uint64_t steps) const {
  std::string text;
  for (int r = 0; r < node_->size(); ++r) {
    if (progress(r).steps.load(std::memory_order_acquire) >= steps) continue;
    const int number = node_->board_rank(r);
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(number);
    if (node_->wait_state().board)
      text += fmt::format(" (last seen {})", node_->wait_state().board->last_seen(number));
  }
  return text.empty() ? "cells to be stored" : text;
}

void Stage::enter_match() {
  ++matches_;
  if (!serves()) header().matches.fetch_add(1, std::memory_order_acq_rel);
}

// The slot generation, or one of those that must be over before there is room for it: all ranks have arrived,
// and a store takes its time.
bool Stage::is_being_stored(std::uint64_t generation) const {
  const auto ranks = static_cast<std::uint32_t>(computing_);
  const auto all_came = [&](std::uint64_t f) {
    const Slot& s = slot(f);
    const std::uint32_t served = s.served.load(std::memory_order_acquire);
    return s.arrived.load(std::memory_order_acquire) - served == (s.uses.load() + 1) * ranks;
  };
  if (all_came(generation)) return true;
  const auto slots = static_cast<std::uint64_t>(slots_);
  if (generation < slots) return false;
  const auto batch = static_cast<std::uint64_t>(std::min(slots_ / 2, k_batch));
  const std::uint64_t first = (generation - slots) / batch * batch;
  for (std::uint64_t f = first; f < first + batch; ++f)
    if (!is_over(f) && all_came(f)) return true;
  return false;
}

// Nobody leaves a match of calls before all have come to it, so that what is beyond this rank's own matches
// is the number of ranks that wait in the next one. Ranks that serve come after the others, who alone can be
// deadlocked.
bool Stage::deadlocked(std::uint64_t generation) const {
  if (serves()) return false;
  const auto ranks = static_cast<std::uint32_t>(computing_);
  if (is_being_stored(generation)) return false;
  const std::uint32_t away = header().matches.load(std::memory_order_acquire) - matches_ * ranks;
  return away > 0 && away < ranks && header().waiting.load(std::memory_order_acquire) + 1 + away >= ranks;
}

void Stage::fail() {
  header().broken.store(1, std::memory_order_release);
  header().events.fetch_add(1, std::memory_order_seq_cst);
  wake_all(header().events);
}

bool Stage::broken() const {
  return header().broken.load(std::memory_order_acquire) != 0;
}

void Stage::reset() {
  node_->barrier();
  if (node_->rank() == 0) {
    const auto end = file_end().load();
    const auto buffers = header().buffers.load();
    std::fill_n(window_.data(), headers_bytes_, std::byte{0});
    file_end() = end;
    header().buffers = buffers;
  }
  next_ = 0;
  arrived_ = 0;
  matches_ = 0;
  node_->barrier();
}

}  // namespace shoal
