// SPDX-License-Identifier: BSD-3-Clause
#include "comm/board.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace shoal {

// All live in the window: zero is their first state.
struct alignas(64) Board::Entry {
  std::atomic<std::int64_t> place;
  std::atomic<std::uint64_t> number;
  std::atomic<std::int32_t> rank;
  std::atomic<std::uint32_t> inside;  ///< of the call
  std::array<char, 168> call;         ///< for messages alone; the last byte stays zero
};

Board::Board(const Comm& ranks) : rank_(ranks.rank()) {
  const auto bytes = static_cast<std::size_t>(ranks.size()) * sizeof(Entry);
  window_ = SharedWindow::kept_or_new(ranks, bytes, bytes, bytes);
}

Board::~Board() {
  window_.keep();
}

Board::Entry& Board::entry(int rank) const {
  return *(reinterpret_cast<Entry*>(window_.data()) + rank);
}

void Board::come_to_call(const char* name, const std::string& of_what) {
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

void Board::come_to_none() {
  if (calls_.empty())
    entry(rank_).inside.store(0, std::memory_order_release);
  else
    come_to_call(calls_.back().c_str(), {});
}

void Board::begin_call(const char* name, const std::string& of_what) {
  come_to_call(name, of_what);
  calls_.push_back(call_of(rank_));
}

void Board::end_call() {
  calls_.pop_back();
  come_to_none();
}

std::string Board::call_of(int rank) const {
  const Entry& theirs = entry(rank);
  return {theirs.call.data(), ::strnlen(theirs.call.data(), theirs.call.size())};
}

std::string Board::last_seen(int rank) const {
  const std::string call = call_of(rank);
  if (call.empty()) return "in no call so far";
  return (entry(rank).inside.load(std::memory_order_acquire) != 0 ? "in " : "after ") + call;
}

bool Board::is_at_work(int rank) const {
  const Entry& theirs = entry(rank);
  return theirs.inside.load(std::memory_order_acquire) != 0 &&
         theirs.place.load(std::memory_order_acquire) == 0;
}

void Board::wait_for(const Awaited& awaited) {
  Entry& mine = entry(rank_);
  mine.number.store(awaited.number, std::memory_order_relaxed);
  mine.rank.store(awaited.rank, std::memory_order_relaxed);
  mine.place.store(awaited.place, std::memory_order_release);
}

void Board::go_on() {
  entry(rank_).place.store(0, std::memory_order_release);
}

Place* Board::waits_elsewhere(int rank, std::int64_t here, const std::function<bool()>& is_missing) const {
  const Entry& theirs = entry(rank);
  const std::int64_t place = theirs.place.load(std::memory_order_acquire);
  if (place == 0 || place == here) return nullptr;
  const std::uint64_t number = theirs.number.load(std::memory_order_acquire);
  const int wanted = theirs.rank.load(std::memory_order_acquire);
  // It may have gone on, and wait for something else by now.
  if (theirs.place.load(std::memory_order_acquire) != place ||
      theirs.number.load(std::memory_order_acquire) != number ||
      theirs.rank.load(std::memory_order_acquire) != wanted)
    return nullptr;
  if (wanted != Awaited::k_all && wanted != rank_) return nullptr;
  const auto found = places_.find(place);
  if (found == places_.end() || found->second->done_here() >= number) return nullptr;
  if (found->second->is_broken() || !is_missing()) return nullptr;
  return found->second;
}

}  // namespace shoal
