// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>

namespace shoal {

class Comm;

/// What a communicator of the caller's keeps for datasets to come: a duplicate, which is made once, and the
/// node collectives in which its ranks match calls if they share memory.
using Origin = std::shared_ptr<const Comm>;

/// What is kept with parent; nullptr: nothing yet. Local.
Origin kept_origin(MPI_Comm parent);
void keep_origin(MPI_Comm parent, const Origin& origin);

}  // namespace shoal
