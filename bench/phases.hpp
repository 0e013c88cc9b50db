// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

namespace shoal::bench {

/// What a run's time is told apart into. Phases of a library's inside (pack ... store, blocked) overlap with
/// those of the calls (write, read, sync, close): the parts need not add up to total.
enum class Phase : std::size_t {
  open,
  read_meta,
  write_meta,
  pack,
  exchange,
  encode,
  store,
  write,
  read,
  sync,
  close,
  total,
  blocked,
  count
};

inline constexpr std::size_t k_phases = static_cast<std::size_t>(Phase::count);
inline constexpr std::array<const char*, k_phases> k_phase_names{
    "open",  "read_meta", "write_meta", "pack",  "exchange", "encode", "store",
    "write", "read",      "sync",       "close", "total",    "blocked"};

/// Seconds of one rank.
class Phases {
 public:
  double& operator[](Phase phase) { return seconds_[static_cast<std::size_t>(phase)]; }
  double operator[](Phase phase) const { return seconds_[static_cast<std::size_t>(phase)]; }
  double* data() { return seconds_.data(); }

  /// Runs f and adds its time to a phase.
  template <class F>
  void time(Phase phase, F&& f) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    (*this)[phase] += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  std::array<double, k_phases> seconds_{};
};

}  // namespace shoal::bench
