// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>

namespace shoal {

class Comm;

/// A duplicate of a communicator of the caller's, made once and kept with it (as an attribute) for all later
/// datasets, with the node collectives in which its ranks match calls where they share memory.
using CachedDuplicate = std::shared_ptr<const Comm>;

/// The duplicate kept with parent; nullptr: none yet. Local.
CachedDuplicate cached_duplicate(MPI_Comm parent);
void cache_duplicate(MPI_Comm parent, const CachedDuplicate& duplicate);

}  // namespace shoal
