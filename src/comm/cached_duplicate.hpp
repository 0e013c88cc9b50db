// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>

namespace shoal {

class Comm;

/// What a communicator of the caller's keeps for datasets to come: a duplicate, which is made once, and the
/// node collectives in which its ranks match calls if they share memory.
using CachedDuplicate = std::shared_ptr<const Comm>;

/// What is kept with parent; nullptr: nothing yet. Local.
CachedDuplicate cached_duplicate(MPI_Comm parent);
void cache_duplicate(MPI_Comm parent, const CachedDuplicate& duplicate);

}  // namespace shoal
