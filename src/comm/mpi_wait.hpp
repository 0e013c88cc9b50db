// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/clock.hpp"

namespace shoal {

struct WaitState;

// Waits for collective calls of MPI in which a rank may be missing. Such a call can neither be left nor its
// communicator freed: both are kept until the program ends.
//
// States of a rank in await_all:
//
//   state     what the rank does                                   ends
//   polling   tests the call without a pause                       after k_busy_poll_interval
//   sleeping  tests the call between pauses, and receives notices  when the call is over, by a notice, or
//             of departure and queries of arrivals                 after wait_seconds (k_matched_factor times
//                                                                  that for ranks that matched the same call)
//   querying  asks which ranks have arrived (ArrivalQuery)         when no news come
//   departed  has announced that it waits no more, and throws      never: WaitState::broken
//
// Intervals and counts (mpi_wait.cpp):
//
//   k_busy_poll_interval      polling, before a rank sleeps
//   k_longest_poll_interval   between two tests while it sleeps
//   k_absence_interval        without a poll for notices, after which others may have departed unnoticed
//   k_notice_polls            polls for notices after such an absence

/// What a rank keeps of its collective calls of MPI on one communicator.
struct CallsOfMpi {
  std::uint64_t number = 0;  ///< of the last call, the same on all ranks
  Seconds last_polled = 0;   ///< for notices of departure
};

/// Waits for a collective call of MPI, mostly asleep. Error(timeout) where a rank does not arrive: then the
/// memory of the call is kept, as MPI may still use it, and all other ranks get a notice, also those that
/// arrive later. calls: counts this one; nullptr: the communicator is the caller's, and takes no notices.
/// Collective, as the call is.
void await_all(MPI_Comm comm, MPI_Request& request, const char* what, const std::shared_ptr<void>& memory,
               WaitState& wait_state, CallsOfMpi* calls);

}  // namespace shoal
