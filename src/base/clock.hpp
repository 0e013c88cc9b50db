// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace shoal {

using Seconds = double;

/// Seconds since some fixed moment, monotonic.
inline Seconds now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Adds the seconds of its life to a sum.
class Timer {
 public:
  explicit Timer(Seconds& sum) : sum_(sum), start_(now()) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { sum_ += now() - start_; }

 private:
  Seconds& sum_;
  Seconds start_;
};

}  // namespace shoal
