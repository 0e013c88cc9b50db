// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm.hpp"
#include "dataset/settings/settings.hpp"
#include "driver/driver.hpp"

namespace shoal {

/// How ranks serve. The same on all ranks, but for the stores and problem.
struct ServeOptions {
  SettingSources sources;                              ///< read by rank 0 alone
  StoreOpener open_store = open_posix_store;           ///< of this rank, if it serves
  FileSystemFinder find_file_system = file_system_of;  ///< the same
  Status problem;                                      ///< this rank's arguments are bad
};

/// The last ranks of each node of `all`, of_node of them (0: none), serve: there this returns MPI_COMM_NULL
/// when the others are done. On these it returns at once, with their communicator, which is the caller's.
/// Error on all ranks alike. Collective over all.
MPI_Comm serve(MPI_Comm all, int of_node, const ServeOptions& options);

/// Each rank says itself what it does: component 0 and more computes in that one, Role::k_serves serves.
/// There this returns MPI_COMM_NULL when the component that it serves is done; on the others at once, with
/// the communicator of their component, in the order of `all`. Error on all ranks alike, as of Servers.
/// Collective over all.
MPI_Comm serve_components(MPI_Comm all, int component, const ServeOptions& options);

/// Servers are asked to go on. Error(state): datasets that they store are open. Nothing where nobody serves.
/// Collective over the computing ranks of the component.
void stop_serving();

/// The same before MPI ends, whatever is open. Never throws; not collective.
void stop_serving_at_end() noexcept;

}  // namespace shoal
