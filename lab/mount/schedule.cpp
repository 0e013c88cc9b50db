// SPDX-License-Identifier: BSD-3-Clause
#include "mount/schedule.hpp"

#include <algorithm>

namespace shoal::lab {

RealTime Clock::real(Seconds moment) const {
  // Later than this nobody waits, and a time point holds no more.
  constexpr double k_year = 365.0 * 24 * 3600;
  const std::chrono::duration<double> after(std::min(moment * scale_, k_year));
  return begin_ + std::chrono::duration_cast<RealTime::duration>(after);
}

void Schedule::run_due() {
  while (!waiting_.empty() && waiting_.begin()->first <= std::chrono::steady_clock::now()) {
    const std::function<void()> reply = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    reply();
  }
}

Seconds Turnarounds::arrival(ClientId client, pid_t thread, Seconds seen) const {
  const auto last = due_.find({client, thread});
  return last == due_.end() ? seen : std::max(std::min(last->second, seen), seen - grace_);
}

void Turnarounds::replied(ClientId client, pid_t thread, Seconds due) {
  if (thread == 0) return;  // of another process namespace: its threads cannot be told apart
  constexpr std::size_t k_most_threads = 10000;
  if (due_.size() >= k_most_threads) due_.clear();
  due_[{client, thread}] = due;
}

}  // namespace shoal::lab
