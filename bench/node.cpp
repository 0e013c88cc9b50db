// SPDX-License-Identifier: BSD-3-Clause
#include "node.hpp"

#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

namespace shoal::bench {

void reset_peak_memory() {
  // 5 resets the high-water mark of resident memory and nothing else (proc(5)).
  std::ofstream("/proc/self/clear_refs") << "5\n";
}

std::int64_t memory_status(const char* key) {
  std::ifstream in("/proc/self/status");
  const std::string begin = std::string(key) + ":";
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(begin)) return std::strtoll(line.c_str() + begin.size(), nullptr, 10) * 1024;
  return 0;
}

std::int64_t node_memory(MPI_Comm comm, std::int64_t peak, std::int64_t shared) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  std::array<std::int64_t, 2> sum{peak, shared};
  MPI_Allreduce(MPI_IN_PLACE, sum.data(), 2, MPI_INT64_T, MPI_SUM, node);
  // Ranks map the same window: what the one who touched most of it has is what there is.
  MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT64_T, MPI_MAX, node);
  MPI_Comm_free(&node);
  std::int64_t bytes = sum[0] - sum[1] + shared;
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_MAX, comm);
  return bytes;
}

std::string file_system_of(const std::string& dir) {
  struct statfs info {};
  if (statfs(dir.c_str(), &info) != 0) return "unknown";
  static constexpr std::array<std::pair<unsigned, const char*>, 12> k_names{{{0x01021994U, "tmpfs"},
                                                                             {0xef53U, "ext4"},
                                                                             {0x58465342U, "xfs"},
                                                                             {0x9123683eU, "btrfs"},
                                                                             {0x6969U, "nfs"},
                                                                             {0x0bd00bd0U, "lustre"},
                                                                             {0x47504653U, "gpfs"},
                                                                             {0x19830326U, "beegfs"},
                                                                             {0x00c36400U, "ceph"},
                                                                             {0x794c7630U, "overlay"},
                                                                             {0x2fc12fc1U, "zfs"},
                                                                             {0x65735546U, "fuse"}}};
  const auto type = static_cast<unsigned>(info.f_type);
  for (const auto& [magic, name] : k_names)
    if (magic == type) return name;
  std::ostringstream text;
  text << "0x" << std::hex << type;
  return text.str();
}

bool on_one_node(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int here = 0, all = 0;
  MPI_Comm_size(node, &here);
  MPI_Comm_size(comm, &all);
  MPI_Comm_free(&node);
  return here == all;
}

void quiet_barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm, &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace shoal::bench
