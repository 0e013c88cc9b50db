// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "simulate/figures.hpp"
#include "simulate/simulation_request.hpp"

namespace shoal {

/// Who stores.
enum class Writer { io_rank, node, rank };

/// What an I/O rank stores where cells are sent.
struct StoredBox {
  int rank = 0;
  Box cells;  ///< of the field
};
/// The ranks whose cells an I/O rank stores with rearranger=subset.
struct ServedRanks {
  int rank = 0;
  int first = 0, count = 0;
};

/// What came out. All of it is of the ranks, nodes and writers that were simulated.
struct Simulation {
  bool rearranged = false;  ///< cells go to I/O ranks in messages
  std::string why;
  Writer writer = Writer::io_rank;
  std::int64_t writers = 0;  ///< there are
  std::int64_t ranks = 0, nodes = 0;
  std::int64_t groups = 0;      ///< of I/O ranks, with rearranger=subset; else 0
  std::vector<bool> simulated;  ///< by node, or group
  Seconds seconds = 0;
  Figures<double> plan_seconds;      ///< by rank, of a core; nobody waits for messages
  Figures<std::int64_t> plan_bytes;  ///< by rank: the most memory at a time while it plans
  Figures<std::int64_t> kept_bytes;  ///< and afterwards
  std::int64_t rounds = 0;
  // Of one write of the field. Between nodes: what goes to a rank of another one.
  Figures<std::int64_t> messages, bytes;            ///< that a rank sends to others
  Figures<std::int64_t> node_messages, node_bytes;  ///< that a node sends to others
  Figures<std::int64_t> node_takes_messages, node_takes_bytes;
  Figures<std::int64_t> writer_messages, writer_bytes;  ///< that a writer gets from other ranks
  Figures<std::int64_t> loads;                          ///< bytes that a writer stores
  Figures<std::int64_t> extents;  ///< of a writer: bytes that follow each other in the file
  Figures<std::int64_t> extent_bytes;
  // Of all I/O ranks, simulated or not; one of the two has any.
  std::vector<StoredBox> boxes;
  std::vector<ServedRanks> served;
};

/// Builds the plans of all ranks, or of those of some nodes, one rank at a time and with the library's own
/// code: what a rank would hear from others is kept until it is its turn. Error(setting): options that cannot
/// be. Local; needs no MPI.
Simulation simulate(const SimulationRequest& request);

/// The same, for all rearrangers but subset, where each group is taken for a node (groups.cpp).
Simulation simulate_nodes(const SimulationRequest& request);

}  // namespace shoal
