// SPDX-License-Identifier: BSD-3-Clause
#include "comm/nodes.hpp"

#include <sched.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace shoal {

namespace {
Comm node_of(const Comm& comm, int ranks_per_node) {
  Comm shared = comm.split_shared();
  return ranks_per_node > 0 ? shared.split(shared.rank() / ranks_per_node) : std::move(shared);
}

// That the ranks of a node may use together: with ranks that are bound each has its own.
std::int64_t cores_of(const Comm& node) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  // Machines with more cores than the set holds have enough; whoever cannot say must still take part.
  if (sched_getaffinity(0, sizeof mine, &mine) != 0)
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
      CPU_SET(core, &mine);
  Bytes set(sizeof mine);
  std::memcpy(set.data(), &mine, sizeof mine);
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const auto& theirs : node.all_gather(set)) {
    std::memcpy(&mine, theirs.data(), sizeof mine);
    CPU_OR(&all, &all, &mine);
  }
  return CPU_COUNT(&all);
}
}  // namespace

Nodes::Nodes(const Comm& comm, int ranks_per_node) : node_(node_of(comm, ranks_per_node)) {
  number(comm);
}

Nodes::Nodes(const Comm& comm, const Comm& node, int color) : node_(node.split(color)) {
  number(comm);
}

// In the order of their first ranks.
void Nodes::number(const Comm& comm) {
  if (node_.size() == comm.size()) return;  // which all ranks see alike
  const auto leads = comm.all_gather(std::int64_t{node_.rank() == 0 ? 1 : 0});
  count_ = 0;
  std::int64_t number = -1;
  for (int r = 0; r < comm.size(); ++r) {
    if (leads[r] == 0) continue;
    if (r == comm.rank()) number = count_;
    ++count_;
  }
  index_ = static_cast<int>(node_.max(number));
}

bool have_cores_for_threads(const Comm& comm) {
  if (!allows_threads(comm)) return false;
  const Comm node = comm.split_shared();
  const bool here = have_cores_for_threads(cores_of(node), node.size());
  return comm.max(std::int64_t{here ? 0 : 1}) == 0;
}

bool allows_threads(const Comm& comm) {
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  return comm.max(std::int64_t{level >= MPI_THREAD_FUNNELED ? 0 : 1}) == 0;
}

const char* way_to_threads() {
#if defined(OPEN_MPI)
  return "start it by MPI_Init_thread with MPI_THREAD_FUNNELED in place of MPI_Init, or set "
         "OMPI_MPI_THREAD_LEVEL=1 in the environment";
#elif defined(MPICH)
  return "start it by MPI_Init_thread with MPI_THREAD_FUNNELED in place of MPI_Init, or set "
         "MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_FUNNELED in the environment";
#else
  return "start it by MPI_Init_thread with MPI_THREAD_FUNNELED in place of MPI_Init";
#endif
}

}  // namespace shoal
