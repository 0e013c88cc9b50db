// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace shoal {

/// Which ranks wait in a collective call of MPI: asked by the first that has waited too long, answered by all
/// that wait there too, as what each knows goes to those whose numbers differ by a power of two. Who does not
/// answer is missing. Messages of other calls are not counted. Local, all of it.
class RollCall {
 public:
  /// comm: one of our own. call: the number of the call on it, the same on all ranks.
  RollCall(MPI_Comm comm, std::uint64_t call);

  /// Take what others say, and say what they may not know; begins the roll call if `begin`.
  void go_on(bool begin);
  /// Nothing new was heard for a while after it began here.
  bool is_over() const;
  /// "ranks 3, 5 of MPI_COMM_WORLD, which did not come": the first ones that did not answer, and how many
  /// more.
  std::string missing() const;

 private:
  void say() const;
  bool hear();

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  std::vector<std::uint64_t> known_;  ///< the number of the call, and one bit for each rank that waits in it
  bool has_begun_ = false;
  Seconds begun_ = 0, news_ = 0;  ///< when it began here, and when something new was heard
};

}  // namespace shoal
