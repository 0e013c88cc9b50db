// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "comm/nodes.hpp"
#include "driver/driver.hpp"

namespace shoal {

// What follows from the kind of file system that a file is on.

/// As messages carry it.
void pack(ByteWriter& out, const FileSystem& where);
FileSystem unpack_file_system(ByteReader& in);

/// What rank 0 found, and the caches that clients of other nodes have: nodes may have mounted the same thing
/// otherwise. Collective; asks one rank of each node, and only on GlusterFS.
FileSystem as_nodes_have_it(const Comm& comm, const Nodes& nodes, const std::string& path,
                            const FileSystem& where, const FileSystemFinder& find);

/// For a file that is there: Error(io) on all ranks where a node has another file of this path, or none,
/// since the file system is each node's own. Collective; asks one rank of each node.
void require_one_file(const Comm& comm, const Nodes& nodes, const std::string& path, const FileSystem& where);

/// What users have to know and do when ranks of several nodes write one file there; empty: nothing.
/// calls_mpi_io: through a library, which has its own way with such file systems.
std::string sharing_warning(const FileSystem& where, bool calls_mpi_io);

/// Which ranks of rank 0's node store for all, unless settings say who: ascending, the same on all ranks.
/// elsewhere: some of them are on another node. Collective.
std::vector<int> io_ranks_of_one_node(const Comm& comm, const Nodes& nodes, const RearrangeOptions& options,
                                      bool& elsewhere);

/// Before a file is created: it is made with the stripes that are asked for, if any. The mode to create
/// it with after that. warnings: why it is not striped, and what to do. Local.
OpenMode with_stripes(const std::string& path, OpenMode mode, const Stripes& stripes,
                      const SystemOptions& system, std::vector<std::string>& warnings);
/// The same for files that MPI-IO creates: as hints, unless these are there.
void add_stripe_hints(Hints& hints, const Stripes& stripes, const FileSystem& where,
                      std::vector<std::string>& warnings);

}  // namespace shoal
