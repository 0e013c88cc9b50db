// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>

#include "base/clock.hpp"
#include "simulate/simulation_request.hpp"

namespace shoal {

/// Of numbers that collective calls gather: where nodes and I/O ranks are chosen, and who sends to whom.
inline constexpr std::int64_t k_gathered_bytes = 12;

/// Time and memory of one piece of a rank's work.
class ResourceProbe {
 public:
  explicit ResourceProbe(const MemoryMeter& meter) : meter_(meter) {
    if (meter_.restart) meter_.restart();
    before_ = meter_.now ? meter_.now() : 0;
    start_ = worked();
  }
  Seconds seconds() const { return worked() - start_; }
  std::int64_t peak() const { return meter_.peak ? meter_.peak() - before_ : 0; }

 private:
  // Of this thread: others use the cores too.
  static Seconds worked() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<Seconds>(time.tv_sec) + 1e-9 * static_cast<Seconds>(time.tv_nsec);
  }

  const MemoryMeter& meter_;
  std::int64_t before_ = 0;
  Seconds start_ = 0;
};

/// What one rank's plan took.
struct Cost {
  Seconds seconds = 0;
  std::int64_t peak = 0;
  std::int64_t kept = 0;

  void add(const ResourceProbe& probe, std::int64_t beside) {
    seconds += probe.seconds();
    peak = std::max(peak, probe.peak() + beside);
  }
  /// Of something else that is done while this is kept.
  void add(const Cost& other) {
    seconds += other.seconds;
    peak = std::max(peak, kept + other.peak);
    kept += other.kept;
  }
};

}  // namespace shoal
