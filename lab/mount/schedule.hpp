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

/// Takes what the laboratory itself costs out of the times. A reply that is sent late leaves its program less
/// time than it had in the model; so the program's next request counts as if it came that much earlier.
class Turnarounds {
 public:
  /// A program is a thread of a client. When its request came, if it was seen at `seen`.
  Seconds arrival(ClientId client, pid_t thread, Seconds seen);
  void replied(ClientId client, pid_t thread, Seconds due, Seconds sent);

 private:
  struct Last {
    Seconds due;
    Seconds late;
  };
  std::map<std::pair<ClientId, pid_t>, Last> last_;
};

}  // namespace shoal::lab
