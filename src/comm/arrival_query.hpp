// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace shoal {

/// The ranks that have arrived in a collective call of MPI. The first rank that has waited too long asks; all
/// that wait in the same call answer, and pass on what they know to the ranks whose numbers differ by a power
/// of two. Ranks that do not answer are missing. Messages of other calls are not counted. All is Local.
class ArrivalQuery {
 public:
  /// comm: a duplicate of Shoal's own. call: its number on comm, the same on all ranks.
  ArrivalQuery(MPI_Comm comm, std::uint64_t call);

  /// Receives what other ranks know, and sends them what is new; begins the query if `begin`.
  void progress(bool begin);
  /// No news for a while since it began here.
  bool is_over() const;
  /// "ranks 3, 5 of MPI_COMM_WORLD, which did not come": the first that did not answer, and how many more.
  std::string missing() const;

 private:
  void send() const;
  bool receive();

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  std::vector<std::uint64_t> known_;  ///< the number of the call, and a bit for each rank that arrived in it
  bool has_begun_ = false;
  Seconds begin_ = 0, last_news_ = 0;  ///< when it began here; when the last news came
};

}  // namespace shoal
