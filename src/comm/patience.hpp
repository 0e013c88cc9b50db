// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "comm/ties.hpp"

namespace shoal {

/// Until a call of MPI is over that ranks make together, mostly asleep; Error(timeout) where one does not
/// come. Then MPI may still use the call's memory, which is never given back; the other ranks hear of it,
/// also those that come later. number: of the call, on a communicator of our own, on which others may say so;
/// 0: it is the caller's. Collective, as the call is.
void await_all(MPI_Comm comm, MPI_Request& request, const char* what, const std::shared_ptr<void>& memory,
               Ties& ties, std::uint64_t number);

/// A message to those whose numbers differ by a power of two: where each passes it on, it reaches all in a
/// few steps. It waits for nobody; a copy stays in memory for ever, as a rank may never receive it. Local.
void send_along_powers_of_two(MPI_Comm comm, int tag, std::span<const std::byte> message);

}  // namespace shoal
