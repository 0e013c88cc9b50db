// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

#include "content.hpp"

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
  // In results only where they are not 0.
  write_3d,      ///< of write: fields of three dimensions, the record dimension included
  write_4d,      ///< of write: fields of four
  join,          ///< one file out of the files of a set, after total
  total_joined,  ///< total and join
  compute,       ///< of a program that computes, as is what follows
  user,          ///< processor time, the sum of all ranks
  system,        ///< the same in the system
  count
};

inline constexpr std::size_t k_phases = static_cast<std::size_t>(Phase::count);
/// So many are in every result.
inline constexpr std::size_t k_common_phases = static_cast<std::size_t>(Phase::write_3d);
inline constexpr std::array<const char*, k_phases> k_phase_names{
    "open",     "read_meta", "write_meta",   "pack",    "exchange", "encode",  "store",
    "write",    "read",      "sync",         "close",   "total",    "blocked", "write_3d",
    "write_4d", "join",      "total_joined", "compute", "user",     "system"};

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

  /// The same for the writing of a field: its time goes to write_3d or write_4d, where it is one of those.
  template <class F>
  void time_field(const Field& field, F&& f) {
    const auto dims = field.dims.size();
    if (field.distributed && (dims == 3 || dims == 4))
      time(dims == 3 ? Phase::write_3d : Phase::write_4d, f);
    else
      f();
  }

 private:
  std::array<double, k_phases> seconds_{};
};

}  // namespace shoal::bench
