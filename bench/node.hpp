// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <string>

// What the benchmark asks of the machine.
namespace shoal::bench {

/// From now on freed blocks of up to 32 MiB stay with this process, where the C library learns by what was
/// freed (glibc), as in a model that ran for a while. Else a method that asks for memory again and again pays
/// for its pages each time or never, by what another method freed before.
void keep_freed_memory();

/// What was freed goes back to the system, where the C library can do that (glibc).
void give_back_memory();

/// Takes this many bytes of memory and gives them back: each rank its share, all held at once, and never more
/// than is there. A virtual machine's host lends memory when it is first touched, which takes longer than to
/// write it, and takes back what is free for a while. Collective.
void touch_memory(MPI_Comm comm, std::int64_t bytes);

/// Starts the peak of this process' resident memory anew, where the system can (Linux).
void reset_peak_memory();

/// A line of /proc/self/status in bytes ("VmHWM": peak resident, "VmRSS": resident, "RssShmem": of it
/// shared); 0 where there is none.
std::int64_t memory_status(const char* key);

/// Memory of the ranks of one node, shared memory counted once: the node with the most. Collective.
/// peak: of this rank; shared: this rank's part of it that other ranks see too.
std::int64_t node_memory(MPI_Comm comm, std::int64_t peak, std::int64_t shared);

/// Name of the file system that a directory lies on.
std::string file_system_of(const std::string& dir);

/// Where a job runs.
struct Machine {
  int cores = 1;  ///< that the job may use on a node; the least of all nodes
  int nodes = 1;
  bool more_ranks_than_cores = false;  ///< on some node
  std::string host;                    ///< rank 0's
};
/// Collective.
Machine machine_of(MPI_Comm comm);

/// What MPI does MPI_File calls with in a directory: "OMPIO", "ROMIO" or "unknown". Makes a small file there
/// and removes it. Local.
std::string mpi_io_of(const std::string& dir);

/// Takes a file out of the page cache of this node, after its bytes are on the device. Returns the part of it
/// (0 to 1) that is still there: file systems in memory keep everything. Local.
double drop_from_cache(const std::string& path);

/// Returns when the device has the bytes of a file. std::runtime_error if that fails. Local.
void flush_file(const std::string& path);

/// All ranks share one node, and with it one clock. Collective.
bool on_one_node(MPI_Comm comm);

/// A barrier whose waiting ranks sleep: with more ranks than cores, spinning ones would slow down those that
/// still work.
void quiet_barrier(MPI_Comm comm);

/// Waits for all ranks. one_clock: all ranks read the same clock, and go on at one moment that they agreed
/// on, however late they woke up. Returns when the measured part begins. Collective.
std::chrono::steady_clock::time_point start_together(MPI_Comm comm, bool one_clock);

/// The same, or the first failure, on all ranks: "" on a rank that is content. std::invalid_argument with the
/// words of the first rank that is not. Collective.
void agree(MPI_Comm comm, const std::string& failure);

/// One rank of each node is. Collective.
bool first_of_node(MPI_Comm comm);

}  // namespace shoal::bench
