// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>

#include "comm/ties.hpp"

namespace shoal {

/// Until a call of MPI is over that ranks make together, mostly asleep; Error(timeout) where one does not
/// come. Then MPI may still use the call's memory, which is never given back; the other ranks hear of it,
/// also those that come later. listens: on a communicator of our own, on which others may say so. Collective,
/// as the call is.
void await_all(MPI_Comm comm, MPI_Request& request, const char* what, const std::shared_ptr<void>& memory,
               Ties& ties, bool listens);

}  // namespace shoal
