// SPDX-License-Identifier: BSD-3-Clause
#include "comm/progress_board.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace shoal {

// All live in the window: zero is their first state.
struct alignas(64) ProgressBoard::Entry {
  std::atomic<std::int64_t> wait_point;
  std::atomic<std::uint64_t> number;
  std::atomic<std::int32_t> rank;
  std::atomic<std::uint32_t> inside;  ///< of the call
  std::array<char, 168> call;         ///< for messages alone; the last byte stays zero
};

ProgressBoard::ProgressBoard(const Communicator& ranks) : rank_(ranks.rank()) {
  const auto bytes = static_cast<std::size_t>(ranks.size()) * sizeof(Entry);
  window_ = SharedWindow::kept_or_new(ranks, bytes, bytes, bytes);
}

ProgressBoard::~ProgressBoard() {
  window_.keep();
}

ProgressBoard::Entry& ProgressBoard::entry(int rank) const {
  return *(reinterpret_cast<Entry*>(window_.data()) + rank);
}

void ProgressBoard::arrive_at_call(const char* name, const std::string& of_what) {
  Entry& mine = entry(rank_);
  // Less than a full text at every moment, as others may read it meanwhile.
  const std::size_t most = mine.call.size() - 1;
  std::size_t at = std::min(std::strlen(name), most);
  std::memcpy(mine.call.data(), name, at);
  if (!of_what.empty() && at + 4 < most) {
    const std::size_t length = std::min(of_what.size(), most - at - 3);
    std::memcpy(mine.call.data() + at, " (", 2);
    std::memcpy(mine.call.data() + at + 2, of_what.data(), length);
    at += 2 + length;
    mine.call[at++] = ')';
  }
  mine.call[at] = '\0';
  mine.inside.store(1, std::memory_order_release);
}

void ProgressBoard::leave_call() {
  if (calls_.empty())
    entry(rank_).inside.store(0, std::memory_order_release);
  else
    arrive_at_call(calls_.back().c_str(), {});
}

void ProgressBoard::begin_call(const char* name, const std::string& of_what) {
  arrive_at_call(name, of_what);
  calls_.push_back(call_of(rank_));
}

void ProgressBoard::end_call() {
  calls_.pop_back();
  leave_call();
}

std::string ProgressBoard::call_of(int rank) const {
  const Entry& theirs = entry(rank);
  return {theirs.call.data(), ::strnlen(theirs.call.data(), theirs.call.size())};
}

std::string ProgressBoard::last_seen(int rank) const {
  const std::string call = call_of(rank);
  if (call.empty()) return "in no call so far";
  return (entry(rank).inside.load(std::memory_order_acquire) != 0 ? "in " : "after ") + call;
}

bool ProgressBoard::is_at_work(int rank) const {
  const Entry& theirs = entry(rank);
  return theirs.inside.load(std::memory_order_acquire) != 0 &&
         theirs.wait_point.load(std::memory_order_acquire) == 0;
}

void ProgressBoard::wait_for(const Awaited& awaited) {
  Entry& mine = entry(rank_);
  mine.number.store(awaited.number, std::memory_order_relaxed);
  mine.rank.store(awaited.rank, std::memory_order_relaxed);
  mine.wait_point.store(awaited.wait_point, std::memory_order_release);
}

void ProgressBoard::end_wait() {
  entry(rank_).wait_point.store(0, std::memory_order_release);
}

WaitPoint* ProgressBoard::waits_elsewhere(int rank, std::int64_t here,
                                          const std::function<bool()>& is_missing) const {
  const Entry& theirs = entry(rank);
  const std::int64_t wait_point = theirs.wait_point.load(std::memory_order_acquire);
  if (wait_point == 0 || wait_point == here) return nullptr;
  const std::uint64_t number = theirs.number.load(std::memory_order_acquire);
  const int wanted = theirs.rank.load(std::memory_order_acquire);
  // It may have gone on, and wait for something else by now.
  if (theirs.wait_point.load(std::memory_order_acquire) != wait_point ||
      theirs.number.load(std::memory_order_acquire) != number ||
      theirs.rank.load(std::memory_order_acquire) != wanted)
    return nullptr;
  if (wanted != Awaited::k_all && wanted != rank_) return nullptr;
  const auto found = wait_points_.find(wait_point);
  if (found == wait_points_.end() || found->second->done_here() >= number) return nullptr;
  if (found->second->is_broken() || !is_missing()) return nullptr;
  return found->second;
}

}  // namespace shoal
