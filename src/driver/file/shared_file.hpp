// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "comm/nodes.hpp"
#include "driver/driver.hpp"

namespace shoal {

// Consequences of the kind of file system that a file is on.

/// A FileSystem in a message.
void pack(ByteWriter& out, const FileSystem& where);
FileSystem unpack_file_system(ByteReader& in);

/// The file system that rank 0 found, with the caches of the clients of all nodes, which may have mounted it
/// with other options. Collective; asks one rank of each node, and only on GlusterFS.
FileSystem as_nodes_have_it(const Comm& comm, const Nodes& nodes, const std::string& path,
                            const FileSystem& where, const FileSystemFinder& find);

/// For an existing file: Error(io) on all ranks where a node has another file of this path, or none, since
/// each node has a file system of its own. Collective; asks one rank of each node.
void require_one_file(const Comm& comm, const Nodes& nodes, const std::string& path, const FileSystem& where);

/// A warning for users where ranks of several nodes write one file on this file system; empty: none.
/// calls_mpi_io: a library writes it, which may treat such file systems itself.
std::string sharing_warning(const FileSystem& where, bool calls_mpi_io);

/// The I/O ranks that store for all nodes: those that settings name, else ranks of rank 0's node. Ascending,
/// the same on all ranks. elsewhere: becomes true if some are on another node. Collective.
std::vector<int> io_ranks_of_one_node(const Comm& comm, const Nodes& nodes, const RearrangeOptions& options,
                                      bool& elsewhere);

/// Do settings ask for stripes? Local.
bool are_asked_for(const Stripes& stripes);
/// Makes a file with the stripes that are asked for, if any, before it is created. Returns the mode to create
/// it with then. warnings: the reason why it is not striped, and what to do. Local.
OpenMode with_stripes(const std::string& path, OpenMode mode, const Stripes& stripes,
                      const SystemOptions& system, std::vector<std::string>& warnings);
/// Adds the stripes to the hints, for files that MPI-IO creates, unless the hints have some.
void add_stripe_hints(Hints& hints, const Stripes& stripes, const FileSystem& where,
                      std::vector<std::string>& warnings);

}  // namespace shoal
