// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <utility>

#include "model/units.hpp"

namespace shoal::lab {

using RealTime = std::chrono::steady_clock::time_point;

/// Real time as time of the model, which begins with the clock. `scale`: real seconds for one of the model.
class Clock {
 public:
  explicit Clock(double scale) : begin_(std::chrono::steady_clock::now()), scale_(scale) {}
  Seconds at(RealTime real) const { return std::chrono::duration<double>(real - begin_).count() / scale_; }
  Seconds now() const { return at(std::chrono::steady_clock::now()); }
  RealTime real(Seconds moment) const;
  double scale() const { return scale_; }

 private:
  RealTime begin_;
  double scale_;
};

/// Replies that wait for their moment.
class Schedule {
 public:
  void add(RealTime due, std::function<void()> reply) { waiting_.emplace(due, std::move(reply)); }
  /// RealTime::max(): none waits.
  RealTime next() const { return waiting_.empty() ? RealTime::max() : waiting_.begin()->first; }
  void run_due();

 private:
  std::multimap<RealTime, std::function<void()>> waiting_;
};

/// Takes what the laboratory itself costs out of the times: a reply that is sent late, and a busy machine
/// that wakes the program up late. A request counts as if it came when the program's last reply was due, if
/// that is not longer ago than `grace`; else as if it came that much earlier than it did. So real time is
/// behind the model's by this at most, and pauses of a program that are shorter count as none.
class Turnarounds {
 public:
  explicit Turnarounds(Seconds grace) : grace_(grace) {}
  /// A program is a thread of a client. When its request came, if it was seen at `seen`.
  Seconds arrival(ClientId client, pid_t thread, Seconds seen) const;
  void replied(ClientId client, pid_t thread, Seconds due);

 private:
  Seconds grace_;
  std::map<std::pair<ClientId, pid_t>, Seconds> due_;
};

}  // namespace shoal::lab
