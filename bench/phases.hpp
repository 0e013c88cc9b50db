// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "content.hpp"

namespace shoal::bench {

/// What a run's time is divided into. Phases of a library's inside (pack, exchange, store) overlap with
/// those of the calls (write, read, sync, close): the parts need not add up to total. A run has those that
/// somebody measured, and total and blocked.
enum class Phase : std::size_t {
  open,
  read_meta,
  write_meta,
  pack,
  exchange,
  store,  ///< bytes move to the file: calls with values, flushing and closing, without packing
  write,
  read,
  sync,
  close,
  total,
  blocked,       ///< total without compute
  write_3d,      ///< of write: fields of three dimensions, the record dimension included
  write_4d,      ///< of write: fields of four
  join,          ///< one file out of the files of a set, after total
  total_joined,  ///< total and join
  compute,       ///< of a program that computes, as is what follows
  halo,          ///< of compute: exchange with neighbours, waiting for them included
  accumulate,    ///< means and extremes of a model's fields, or sending these to streams
  user,          ///< processor time, the sum of all ranks
  system,        ///< the same in the system
  count
};

inline constexpr std::size_t k_phases = static_cast<std::size_t>(Phase::count);
inline constexpr std::array<const char*, k_phases> k_phase_names{
    "open", "read_meta",    "write_meta", "pack",  "exchange",   "store",    "write",
    "read", "sync",         "close",      "total", "blocked",    "write_3d", "write_4d",
    "join", "total_joined", "compute",    "halo",  "accumulate", "user",     "system"};

/// Seconds of one rank.
class Phases {
 public:
  double operator[](Phase phase) const { return seconds_[static_cast<std::size_t>(phase)]; }
  bool has(Phase phase) const { return (measured_ & bit(phase)) != 0; }
  void add(Phase phase, double seconds) {
    seconds_[static_cast<std::size_t>(phase)] += seconds;
    measured_ |= bit(phase);
  }

  /// Those of the slowest rank in each phase that some rank measured. Collective.
  void take_slowest(MPI_Comm comm) {
    MPI_Allreduce(MPI_IN_PLACE, seconds_.data(), static_cast<int>(k_phases), MPI_DOUBLE, MPI_MAX, comm);
    MPI_Allreduce(MPI_IN_PLACE, &measured_, 1, MPI_UINT32_T, MPI_BOR, comm);
  }

  /// Runs f and adds its time to a phase.
  template <class F>
  void time(Phase phase, F&& f) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    add(phase, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
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
  static constexpr std::uint32_t bit(Phase phase) { return 1U << static_cast<unsigned>(phase); }

  std::array<double, k_phases> seconds_{};
  std::uint32_t measured_ = 0;
};

}  // namespace shoal::bench
