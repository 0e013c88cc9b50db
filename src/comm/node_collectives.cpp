// SPDX-License-Identifier: BSD-3-Clause
#include "comm/node_collectives.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "comm/host.hpp"

namespace shoal {

namespace {
constexpr std::int64_t k_line = 64;
constexpr std::int64_t k_bank = 32 * 1024;  // of data, at least
constexpr std::int64_t k_part = 1024;       // of a rank, at least
constexpr int k_banks = 2;                  // calls use them in turn: a fast rank enters the next call
// In which a rank polls before it sleeps, since a sleeper takes as long to wake up. Where ranks share cores
// it gives up its core each time: 1,000 calls of 4 ranks on 2 cores take 13 ms so, in place of 27.
constexpr Seconds k_spin = 20e-6;
constexpr Seconds k_clock_check_interval = 1e-3;
constexpr Seconds k_first_check = 3e-3;             // of the missing ranks, after the beginning of a wait
constexpr Seconds k_longest_check_interval = 0.05;  // between two checks
constexpr std::uint32_t k_void = ~0U;               // Bank::open of a bank that is never opened any more
constexpr std::size_t k_message = 1500;             // bytes
constexpr double k_at_work_factor = 10;             // times wait_seconds, for a rank that is at work

std::int64_t up_to_line(std::int64_t bytes) {
  return (bytes + k_line - 1) / k_line * k_line;
}

std::int64_t part_of(int ranks) {
  return up_to_line(std::max({k_part, std::int64_t{8} * ranks, k_bank / ranks}));
}

// Of numbers that start again from 0.
bool has_reached(std::uint32_t number, std::uint32_t target) {
  return number != k_void && static_cast<std::int32_t>(number - target) >= 0;
}
template <class... Args>
Status out_of_step(fmt::format_string<Args...> what, Args&&... args) {
  return {Code::out_of_step, fmt::format(what, std::forward<Args>(args)...) +
                                 "; every rank must make the same calls in the same order"};
}

enum Broken : std::uint32_t { whole, being_broken, broken };
enum Verdict : std::uint32_t { undecided, released, given_up };
}  // namespace

// All live in the window: zero is their first state.
struct alignas(k_line) NodeCollectives::WindowHeader {
  SharedWord broken;   ///< Broken: ranks are in different calls, or one did not come
  SharedWord arrived;  ///< ranks in all_arrive
  SharedWord verdict;  ///< of all_arrive
  SharedWord code;     ///< what ranks get that come later
  std::array<char, k_message> message;
};

/// The progress of a rank, for the other ranks.
struct alignas(k_line) NodeCollectives::RankProgress {
  SharedWord made;      ///< its calls so far, in which others need not wait for it any more
  SharedWord departed;  ///< 1: it makes no more calls
};

struct alignas(k_line) NodeCollectives::Bank {
  SharedWord arrived;               ///< ranks, in all calls so far that used it
  alignas(k_line) SharedWord open;  ///< number of the last call whose data may be read, from 1
  alignas(k_line) SharedWord left;  ///< ranks, in all calls so far that used it
};

/// The call that a rank is in.
struct NodeCollectives::Tag {
  std::uint32_t call;
  std::uint32_t bytes;
};

NodeCollectives::NodeCollectives(const Communicator& ranks, std::shared_ptr<WaitState> wait_state,
                                 Numbered<int> board_ranks)
    : ranks_(ranks.ranks()),
      rank_(ranks.rank()),
      size_(ranks.size()),
      shares_cores_(cores_of_host() < size_),
      part_bytes_(part_of(size_)),
      tag_bytes_(up_to_line(size_ * static_cast<std::int64_t>(sizeof(Tag)))),
      bank_bytes_(static_cast<std::int64_t>(sizeof(Bank)) + tag_bytes_ + size_ * part_bytes_),
      header_bytes_(static_cast<std::int64_t>(sizeof(WindowHeader)) +
                    size_ * static_cast<std::int64_t>(sizeof(RankProgress))),
      wait_state_(std::move(wait_state)),
      board_ranks_(std::move(board_ranks)) {
  const auto bytes = static_cast<std::size_t>(header_bytes_ + k_banks * bank_bytes_);
  window_ = SharedWindow::kept_or_new(ranks, bytes, bytes, bytes);
  wait_state_->wait_points.push_back(this);
  if (wait_state_->board) wait_state_->board->add(window_.id(), *this);
}

// Ranks that wait for this one in a call that it did not make wait in vain, and see that by `departed`.
NodeCollectives::~NodeCollectives() {
  std::erase(wait_state_->wait_points, this);
  if (wait_state_->board) wait_state_->board->remove(window_.id());
  progress(rank_).departed.store(1);
  window_.keep();
}

NodeCollectives::WindowHeader& NodeCollectives::header() const {
  return *reinterpret_cast<WindowHeader*>(window_.data());
}

NodeCollectives::RankProgress& NodeCollectives::progress(int rank) const {
  return *(reinterpret_cast<RankProgress*>(window_.data() + sizeof(WindowHeader)) + rank);
}

NodeCollectives::Bank& NodeCollectives::bank() const {
  return *reinterpret_cast<Bank*>(window_.data() + header_bytes_ + (calls_ % k_banks) * bank_bytes_);
}

NodeCollectives::Tag& NodeCollectives::tag(int rank) const {
  return *(reinterpret_cast<Tag*>(reinterpret_cast<std::byte*>(&bank()) + sizeof(Bank)) + rank);
}

std::byte* NodeCollectives::part(int rank) const {
  return reinterpret_cast<std::byte*>(&bank()) + sizeof(Bank) + tag_bytes_ + rank * part_bytes_;
}

// Missing ranks are checked after a while, so that it costs nothing where all arrive.
void NodeCollectives::await(const AwaitedWord& awaited) {
  SharedWord& word = awaited.word;
  std::uint32_t seen = word.load(std::memory_order_acquire);
  if (has_reached(seen, awaited.target)) return;
  struct WaitOnBoard {
    ProgressBoard* board = nullptr;
    ~WaitOnBoard() {
      if (board != nullptr) board->end_wait();
    }
  } waits;
  const Seconds start = now();
  Seconds next_check = k_first_check;
  for (; !has_reached(seen, awaited.target); seen = word.load(std::memory_order_acquire)) {
    const Seconds waited = now() - start;
    if (waited < k_spin) {
      if (shares_cores_) std::this_thread::yield();
      continue;
    }
    // In this order: what has come true counts, even if ranks have parted in the next step meanwhile.
    if (is_broken() && !has_reached(word.load(std::memory_order_acquire), awaited.target)) throw_broken();
    if (waited > next_check) {
      if (waits.board == nullptr && wait_state_->board) {
        waits.board = wait_state_->board.get();
        const bool all = awaited.rank == Awaited::k_all;
        waits.board->wait_for({window_.id(), awaited.calls, all ? Awaited::k_all : board_rank(awaited.rank)});
      }
      check_missing(awaited, waited);
      next_check = waited + std::min(waited, k_longest_check_interval);
    }
    wait_while(word, seen, k_clock_check_interval);
    if (waited > k_clock_check_interval) let_mpi_progress();
  }
}

bool NodeCollectives::is_missing(const AwaitedWord& awaited, int rank) const {
  return (awaited.rank == Awaited::k_all || awaited.rank == rank) &&
         !has_reached(progress(rank).made.load(std::memory_order_acquire), awaited.calls);
}

std::vector<int> NodeCollectives::missing(const AwaitedWord& awaited) const {
  std::vector<int> ranks;
  for (int r = 0; r < size_; ++r)
    if (is_missing(awaited, r)) ranks.push_back(r);
  return ranks;
}

// This rank waits here, so that a rank that waits for it at another wait point waits in vain.
void NodeCollectives::check_missing(const AwaitedWord& awaited, Seconds waited) {
  const auto ranks = missing(awaited);
  const ProgressBoard* board = wait_state_->board.get();
  bool at_work = !ranks.empty();
  for (const int r : ranks) {
    const int number = board_rank(r);
    const std::string name = fmt::format("rank {}", number);
    if (progress(r).departed.load(std::memory_order_acquire) != 0) {
      if (is_missing(awaited, r))
        give_up(awaited,
                out_of_step("{} has closed or dropped it and makes no more calls, while other ranks still "
                            "wait{}",
                            name, my_call()));
      return;
    }
    if (board == nullptr) {
      at_work = false;
      continue;
    }
    if (WaitPoint* const elsewhere =
            board->waits_elsewhere(number, window_.id(), [&] { return is_missing(awaited, r); })) {
      const Status status = out_of_step("ranks made different calls: rank {} is{}, {} in {}",
                                        board_rank(rank_), my_call(), name, board->call_of(number));
      elsewhere->wait_state().break_off(status);
      give_up(awaited, status);
      return;
    }
    at_work = at_work && board->is_at_work(number);
  }
  if (waited < wait_state_->wait_seconds * (at_work ? k_at_work_factor : 1)) return;
  give_up(awaited,
          timeout_status(waited, wait_state_->call, ranks.empty() ? "other ranks" : last_seen(ranks)));
}

std::string NodeCollectives::my_call() const {
  return wait_state_->call.empty() ? "" : " in " + wait_state_->call;
}

std::string NodeCollectives::last_seen(const std::vector<int>& ranks) const {
  constexpr std::size_t k_most = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(k_most, ranks.size()); ++i) {
    const int number = board_rank(ranks[i]);
    text += (i == 0 ? "rank " : ", rank ") + std::to_string(number);
    if (wait_state_->board) text += fmt::format(" (last seen {})", wait_state_->board->last_seen(number));
  }
  if (ranks.size() > k_most) text += fmt::format(" and {} more", ranks.size() - k_most);
  return text;
}

// Of a rank that arrives at the last moment and one that gives up, the first decides for all.
void NodeCollectives::give_up(const AwaitedWord& awaited, const Status& status) {
  if (awaited.opens) {
    std::uint32_t seen = awaited.word.load(std::memory_order_acquire);
    if (has_reached(seen, awaited.target)) return;
    if (seen != k_void && !awaited.word.compare_exchange_strong(seen, k_void)) return;
  }
  wait_state_->break_off(status);
  throw_broken();
}

bool NodeCollectives::is_broken() const {
  return header().broken.load(std::memory_order_acquire) != whole;
}

Status NodeCollectives::break_off(const Status& status) {
  WindowHeader& h = header();
  std::uint32_t still = whole;
  if (h.broken.compare_exchange_strong(still, being_broken)) {
    h.code.store(static_cast<std::uint32_t>(status.code), std::memory_order_relaxed);
    // The last byte stays zero.
    std::strncpy(h.message.data(), status.message.c_str(), h.message.size() - 1);
    h.broken.store(broken, std::memory_order_release);
  }
  return outcome();
}

// Of a place that is broken.
Status NodeCollectives::outcome() const {
  const WindowHeader& h = header();
  while (h.broken.load(std::memory_order_acquire) == being_broken)
    std::this_thread::yield();
  return {static_cast<Code>(h.code.load(std::memory_order_relaxed)), h.message.data()};
}

// A rank writes into a bank when all have read what was in it.
void NodeCollectives::enter(Call call, std::int64_t bytes) {
  if (is_broken()) throw_broken();
  await({bank().left, calls_ / k_banks * static_cast<std::uint32_t>(size_), calls_ + 1 - k_banks});
  tag(rank_) = {static_cast<std::uint32_t>(call), static_cast<std::uint32_t>(bytes)};
}

void NodeCollectives::note_made() {
  made_ = std::uint64_t{calls_} + 1;
  progress(rank_).made.store(calls_ + 1, std::memory_order_release);
}

// Unless somebody has given up.
void NodeCollectives::open() {
  SharedWord& word = bank().open;
  std::uint32_t seen = word.load(std::memory_order_acquire);
  while (seen != k_void && !word.compare_exchange_weak(seen, calls_ + 1, std::memory_order_acq_rel)) {
  }
  wake_all(word);
}

void NodeCollectives::arrive() {
  const std::uint32_t all = (calls_ / k_banks + 1) * static_cast<std::uint32_t>(size_);
  note_made();
  if (bank().arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == all) open();
}

void NodeCollectives::leave() {
  const std::uint32_t all = (calls_ / k_banks + 1) * static_cast<std::uint32_t>(size_);
  if (bank().left.fetch_add(1, std::memory_order_acq_rel) + 1 == all) wake_all(bank().left);
  ++calls_;
}

// Messages that others wait for go on only in calls of MPI; in MPICH not in those of MPI_COMM_SELF.
void NodeCollectives::let_mpi_progress() const {
  int there = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ranks_, &there, MPI_STATUS_IGNORE);
}

void NodeCollectives::throw_broken() const {
  throw Error(wait_state_->break_off(outcome()));
}

void NodeCollectives::check(Call call, std::int64_t bytes, int rank) {
  const Tag& theirs = tag(rank);
  if (theirs.call == static_cast<std::uint32_t>(call) && theirs.bytes == static_cast<std::uint32_t>(bytes))
    return;
  wait_state_->break_off(
      out_of_step("ranks are in different calls, rank {}{}", board_rank(rank_), my_call()));
  throw_broken();
}

void NodeCollectives::read_all(Call call, std::int64_t bytes, const Read& read) {
  await({bank().open, calls_ + 1, calls_ + 1, Awaited::k_all, true});
  for (int r = 0; r < size_; ++r) {
    check(call, bytes, r);
    read(r, part(r));
  }
}

void NodeCollectives::share(const std::byte* mine, std::int64_t bytes, const Read& read) {
  enter(Call::share, bytes);
  std::copy_n(mine, bytes, part(rank_));
  arrive();
  read_all(Call::share, bytes, read);
  leave();
}

void NodeCollectives::collect(const std::byte* mine, std::int64_t bytes, int root, const Read& read) {
  enter(Call::collect, bytes);
  std::copy_n(mine, bytes, part(rank_));
  arrive();
  if (rank_ == root) read_all(Call::collect, bytes, read);
  leave();
}

// Root has the parts of all to itself.
void NodeCollectives::spread(std::byte* data, std::int64_t bytes, int root) {
  const std::int64_t most = size_ * part_bytes_;
  for (std::int64_t at = 0; at < bytes; at += most) {
    const std::int64_t length = std::min(most, bytes - at);
    std::byte* const place = part(0);
    if (rank_ == root) {
      enter(Call::spread, length);
      std::memcpy(place, data + at, static_cast<std::size_t>(length));
      note_made();
      open();
    } else {
      // Root may have departed on from here before the place was broken: then all others do, too.
      await({bank().open, calls_ + 1, calls_ + 1, root, true});
      check(Call::spread, length, root);
      std::memcpy(data + at, place, static_cast<std::size_t>(length));
      note_made();
    }
    bank().arrived.fetch_add(1, std::memory_order_acq_rel);
    leave();
  }
}

bool NodeCollectives::all_arrive(double seconds) {
  auto& verdict = header().verdict;
  const auto decide = [&](std::uint32_t how) {
    std::uint32_t open = undecided;
    if (verdict.compare_exchange_strong(open, how)) wake_all(verdict);
  };
  const auto one_departed = [&] {
    for (int r = 0; r < size_; ++r)
      if (progress(r).departed.load(std::memory_order_acquire) != 0) return true;
    return false;
  };
  if (header().arrived.fetch_add(1) + 1 == static_cast<std::uint32_t>(size_)) decide(released);
  for (const Seconds start = now(); verdict.load() == undecided; let_mpi_progress()) {
    if (is_broken() || one_departed() || now() - start > seconds) decide(given_up);
    wait_while(verdict, undecided, k_clock_check_interval);
  }
  return verdict.load() == released;
}

}  // namespace shoal
