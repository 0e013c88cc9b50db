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

/// The collective calls of MPI on a communicator of our own, on which ranks also say that they wait no more.
struct CallsOfMpi {
  std::uint64_t number = 0;  ///< of the last one
  Seconds looked = 0;        ///< when this rank last looked for what others said
};

/// Until a call of MPI is over that ranks make together, mostly asleep; Error(timeout) where one does not
/// come. Then MPI may still use the call's memory, which is never given back; the other ranks hear of it,
/// also those that come later. calls: this one is counted; nullptr: the communicator is the caller's.
/// Collective, as the call is.
void await_all(MPI_Comm comm, MPI_Request& request, const char* what, const std::shared_ptr<void>& memory,
               WaitState& wait_state, CallsOfMpi* calls);

/// A message to those whose numbers differ by a power of two: where each passes it on, it reaches all in a
/// few steps. It waits for nobody; a copy stays in memory for ever, as a rank may never receive it. Local.
void send_along_powers_of_two(MPI_Comm comm, int tag, std::span<const std::byte> message);

}  // namespace shoal
