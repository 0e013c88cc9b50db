// SPDX-License-Identifier: BSD-3-Clause
#include "comm/meeting_room.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/clock.hpp"

namespace shoal {

namespace {
constexpr std::int64_t k_line = 64;
constexpr std::int64_t k_bank = 32 * 1024;  // of data, at least
constexpr std::int64_t k_part = 1024;       // of a rank, at least
constexpr int k_banks = 2;                  // calls in turn: who is quick enters the next one
constexpr Seconds k_spin = 20e-6;           // a sleeper takes as long to wake up
constexpr Seconds k_nap = 1e-3;

std::int64_t up_to_line(std::int64_t bytes) {
  return (bytes + k_line - 1) / k_line * k_line;
}

std::int64_t part_of(int ranks) {
  return up_to_line(std::max({k_part, std::int64_t{8} * ranks, k_bank / ranks}));
}

// Of numbers that start again from 0.
bool has_come(std::uint32_t number, std::uint32_t target) {
  return static_cast<std::int32_t>(number - target) >= 0;
}
}  // namespace

// All live in the window: zero is their first state.
struct MeetingRoom::Head {
  SharedWord broken;   ///< ranks are in different calls
  SharedWord here;     ///< ranks in all_come
  SharedWord verdict;  ///< of all_come
};

struct alignas(k_line) MeetingRoom::Bank {
  SharedWord arrived;               ///< ranks, in all calls so far that used it
  alignas(k_line) SharedWord open;  ///< number of the last call whose data may be read, from 1
  alignas(k_line) SharedWord left;  ///< ranks, in all calls so far that used it
};

/// What call a rank is in.
struct MeetingRoom::Tag {
  std::uint32_t call;
  std::uint32_t bytes;
};

MeetingRoom::MeetingRoom(const Comm& ranks)
    : ranks_(ranks.ranks()),
      rank_(ranks.rank()),
      size_(ranks.size()),
      spin_(::sysconf(_SC_NPROCESSORS_ONLN) >= size_ ? k_spin : 0),
      part_bytes_(part_of(size_)),
      tag_bytes_(up_to_line(size_ * static_cast<std::int64_t>(sizeof(Tag)))),
      bank_bytes_(static_cast<std::int64_t>(sizeof(Bank)) + tag_bytes_ + size_ * part_bytes_) {
  const auto bytes = static_cast<std::size_t>(k_line + k_banks * bank_bytes_);
  window_ = SharedWindow::kept_or_new(ranks, bytes, bytes, bytes);
}

MeetingRoom::~MeetingRoom() {
  window_.keep();
}

MeetingRoom::Head& MeetingRoom::head() const {
  return *reinterpret_cast<Head*>(window_.data());
}

MeetingRoom::Bank& MeetingRoom::bank() const {
  return *reinterpret_cast<Bank*>(window_.data() + k_line + (calls_ % k_banks) * bank_bytes_);
}

MeetingRoom::Tag& MeetingRoom::tag(int rank) const {
  return *(reinterpret_cast<Tag*>(reinterpret_cast<std::byte*>(&bank()) + sizeof(Bank)) + rank);
}

std::byte* MeetingRoom::part(int rank) const {
  return reinterpret_cast<std::byte*>(&bank()) + sizeof(Bank) + tag_bytes_ + rank * part_bytes_;
}

void MeetingRoom::await(SharedWord& word, std::uint32_t target) const {
  std::uint32_t seen = word.load(std::memory_order_acquire);
  if (has_come(seen, target)) return;
  for (const Seconds start = now(); !has_come(seen, target); seen = word.load(std::memory_order_acquire)) {
    if (now() - start < spin_) continue;
    if (head().broken.load() != 0) fall_out();
    wait_while(word, seen, k_nap);
    if (now() - start > k_nap) let_mpi_go_on();
  }
}

// Whoever writes into a bank waits until all have read what was in it.
void MeetingRoom::enter(Call call, std::int64_t bytes) {
  if (head().broken.load() != 0) fall_out();
  await(bank().left, calls_ / k_banks * static_cast<std::uint32_t>(size_));
  tag(rank_) = {static_cast<std::uint32_t>(call), static_cast<std::uint32_t>(bytes)};
}

void MeetingRoom::arrive() const {
  const std::uint32_t all = (calls_ / k_banks + 1) * static_cast<std::uint32_t>(size_);
  if (bank().arrived.fetch_add(1, std::memory_order_acq_rel) + 1 != all) return;
  bank().open.store(calls_ + 1, std::memory_order_release);
  wake_all(bank().open);
}

void MeetingRoom::leave() {
  const std::uint32_t all = (calls_ / k_banks + 1) * static_cast<std::uint32_t>(size_);
  if (bank().left.fetch_add(1, std::memory_order_acq_rel) + 1 == all) wake_all(bank().left);
  ++calls_;
}

// Messages that others wait for go on only in calls of MPI; in MPICH not in those of MPI_COMM_SELF.
void MeetingRoom::let_mpi_go_on() const {
  int there = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ranks_, &there, MPI_STATUS_IGNORE);
}

void MeetingRoom::fall_out() const {
  throw Error(Code::out_of_step,
              "ranks are in different calls; every rank must make the same calls in the same order");
}

void MeetingRoom::check(Call call, std::int64_t bytes, int rank) const {
  const Tag& theirs = tag(rank);
  if (theirs.call == static_cast<std::uint32_t>(call) && theirs.bytes == static_cast<std::uint32_t>(bytes))
    return;
  head().broken.store(1);
  fall_out();
}

void MeetingRoom::read_all(Call call, std::int64_t bytes, const Read& read) {
  await(bank().open, calls_ + 1);
  for (int r = 0; r < size_; ++r) {
    check(call, bytes, r);
    read(r, part(r));
  }
}

void MeetingRoom::share(const std::byte* mine, std::int64_t bytes, const Read& read) {
  enter(Call::share, bytes);
  std::copy_n(mine, bytes, part(rank_));
  arrive();
  read_all(Call::share, bytes, read);
  leave();
}

void MeetingRoom::collect(const std::byte* mine, std::int64_t bytes, int root, const Read& read) {
  enter(Call::collect, bytes);
  std::copy_n(mine, bytes, part(rank_));
  arrive();
  if (rank_ == root) read_all(Call::collect, bytes, read);
  leave();
}

// Root has the parts of all to itself.
void MeetingRoom::spread(std::byte* data, std::int64_t bytes, int root) {
  const std::int64_t most = size_ * part_bytes_;
  for (std::int64_t at = 0; at < bytes; at += most) {
    const std::int64_t length = std::min(most, bytes - at);
    std::byte* const place = part(0);
    if (rank_ == root) {
      enter(Call::spread, length);
      std::memcpy(place, data + at, static_cast<std::size_t>(length));
      bank().open.store(calls_ + 1, std::memory_order_release);
      wake_all(bank().open);
    } else {
      if (head().broken.load() != 0) fall_out();
      await(bank().open, calls_ + 1);
      check(Call::spread, length, root);
      std::memcpy(data + at, place, static_cast<std::size_t>(length));
    }
    bank().arrived.fetch_add(1, std::memory_order_acq_rel);
    leave();
  }
}

bool MeetingRoom::all_come(double seconds) {
  enum Verdict : std::uint32_t { none, go, part };
  auto& verdict = head().verdict;
  const auto decide = [&](std::uint32_t how) {
    std::uint32_t open = none;
    if (verdict.compare_exchange_strong(open, how)) wake_all(verdict);
  };
  if (head().here.fetch_add(1) + 1 == static_cast<std::uint32_t>(size_)) decide(go);
  for (const Seconds start = now(); verdict.load() == none; let_mpi_go_on()) {
    if (now() - start > seconds) decide(part);
    wait_while(verdict, none, k_nap);
  }
  return verdict.load() == go;
}

}  // namespace shoal
