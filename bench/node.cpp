// SPDX-License-Identifier: BSD-3-Clause
#include "node.hpp"

#include <fcntl.h>
#include <sched.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "shoal/shoal.h"

namespace shoal::bench {

namespace {

// Cores that a container's quota amounts to, 0 without one.
int cores_of_quota() {
  std::ifstream in("/sys/fs/cgroup/cpu.max");
  double quota = 0, period = 0;
  if (in >> quota >> period && period > 0) return static_cast<int>(std::ceil(quota / period));
  return 0;
}

void wait_quietly(MPI_Request& request) {
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

// A line "KEY: N kB" of a file of /proc, in bytes; 0 where there is none.
std::int64_t bytes_reported(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key + ":")) return std::strtoll(line.c_str() + key.size() + 1, nullptr, 10) * 1024;
  return 0;
}

constexpr std::chrono::nanoseconds k_tick{1};

}  // namespace

void keep_freed_memory() {
  void* volatile block = std::malloc(std::size_t{31} << 20);
  std::free(block);
}

void give_back_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void touch_memory(MPI_Comm comm, std::int64_t bytes) {
  constexpr std::int64_t k_left_alone = std::int64_t{1} << 30;
  constexpr std::size_t k_page = 4096;
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  // Ranks ask at the same moment, before any of them has taken something.
  const auto most = std::max<std::int64_t>(bytes_reported("/proc/meminfo", "MemAvailable") - k_left_alone, 0);
  bytes = std::clamp<std::int64_t>(bytes, 0, most);
  quiet_barrier(comm);
  const auto share = static_cast<std::size_t>(bytes / ranks);
  void* const taken = share == 0
                          ? MAP_FAILED
                          : mmap(nullptr, share, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (taken != MAP_FAILED) {
    madvise(taken, share, MADV_HUGEPAGE);  // fewer faults; small pages do as well
    auto* const bytes_taken = static_cast<volatile unsigned char*>(taken);
    for (std::size_t i = 0; i < share; i += k_page)
      bytes_taken[i] = 1;
  }
  quiet_barrier(comm);
  if (taken != MAP_FAILED) munmap(taken, share);
}

Machine machine_of(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  // Ranks may be bound to a core each: what the job may use is what any of its ranks may.
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof(cores), &cores);
  MPI_Allreduce(MPI_IN_PLACE, &cores, static_cast<int>(sizeof(cores)), MPI_BYTE, MPI_BOR, node);
  Machine machine;
  machine.cores = std::max(1, CPU_COUNT(&cores));
  if (const int quota = cores_of_quota(); quota > 0) machine.cores = std::min(machine.cores, quota);
  int here = 0, first = 0;
  MPI_Comm_size(node, &here);
  MPI_Comm_rank(node, &first);
  MPI_Comm_free(&node);
  std::array<int, 2> counts{first == 0 ? 1 : 0, here > machine.cores ? 1 : 0};
  MPI_Allreduce(MPI_IN_PLACE, &counts[0], 1, MPI_INT, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, &counts[1], 1, MPI_INT, MPI_MAX, comm);
  MPI_Allreduce(MPI_IN_PLACE, &machine.cores, 1, MPI_INT, MPI_MIN, comm);
  machine.nodes = counts[0];
  machine.more_ranks_than_cores = counts[1] != 0;
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  machine.host = name.data();
  return machine;
}

std::string mpi_io_of(const std::string& dir) {
#ifdef OPEN_MPI
  // It does not say what serves an open file; its parameter "io" names what may be used, and left alone it
  // takes ROMIO for Lustre alone.
  std::string chosen;
  int level = MPI_THREAD_SINGLE, provided = 0, index = 0, length = 0;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  MPI_Query_thread(&level);  // Open MPI would take another one for the program's from now on
  if (MPI_T_init_thread(level, &provided) != MPI_SUCCESS) return "unknown";
  if (MPI_T_cvar_get_index("io", &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &length) == MPI_SUCCESS) {
    std::string text(static_cast<std::size_t>(std::max(length, 0)) + 1, '\0');
    if (MPI_T_cvar_read(handle, text.data()) == MPI_SUCCESS) chosen = text.c_str();
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  if (chosen.starts_with("^")) return chosen.find("ompio") != std::string::npos ? "ROMIO" : "OMPIO";
  if (chosen.empty()) return file_system_of(dir) == "lustre" ? "ROMIO" : "OMPIO";
  return chosen.find("romio") != std::string::npos && chosen.find("ompio") == std::string::npos ? "ROMIO"
                                                                                                : "OMPIO";
#else
  const char* const path = shoal_beside((std::filesystem::path(dir) / "mpi-io").c_str());
  MPI_File file = MPI_FILE_NULL;
  constexpr int k_mode = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  if (path == nullptr || MPI_File_open(MPI_COMM_SELF, path, k_mode, MPI_INFO_NULL, &file) != MPI_SUCCESS)
    return "unknown";
  MPI_Info info = MPI_INFO_NULL;
  MPI_File_get_info(file, &info);
  int keys = 0;
  MPI_Info_get_nkeys(info, &keys);
  bool romio = false;
  for (int i = 0; i < keys; ++i) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    MPI_Info_get_nthkey(info, i, key.data());
    romio = romio || std::string(key.data()).starts_with("romio_");  // only ROMIO lists hints of its own
  }
  MPI_Info_free(&info);
  MPI_File_close(&file);
  return romio ? "ROMIO" : "unknown";
#endif
}

double drop_from_cache(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || fstat(fd, &info) != 0 || info.st_size == 0) {
    if (fd >= 0) close(fd);
    return 0;
  }
  fdatasync(fd);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  const auto size = static_cast<std::size_t>(info.st_size),
             page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((size + page - 1) / page);
  double left = 1;
  void* const data = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (data == MAP_FAILED) return left;
  if (mincore(data, size, pages.data()) == 0)
    left = static_cast<double>(
               std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return (p & 1U) != 0; })) /
           static_cast<double>(pages.size());
  munmap(data, size);
  return left;
}

void flush_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool flushed = fd >= 0 && fsync(fd) == 0;
  if (fd >= 0) close(fd);
  if (!flushed) throw std::runtime_error(path + " could not be flushed");
}

void reset_peak_memory() {
  // 5 resets the high-water mark of resident memory and nothing else (proc(5)).
  std::ofstream("/proc/self/clear_refs") << "5\n";
}

std::int64_t memory_status(const char* key) {
  return bytes_reported("/proc/self/status", key);
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

bool first_of_node(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank = 0;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_free(&node);
  return rank == 0;
}

void quiet_barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm, &request);
  wait_quietly(request);
}

std::chrono::steady_clock::time_point start_together(MPI_Comm comm, bool one_clock) {
  using Clock = std::chrono::steady_clock;
  quiet_barrier(comm);
  if (!one_clock) return Clock::now();
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  // Late enough for the message to reach ranks that sleep, and for all of them to get a core.
  constexpr std::chrono::microseconds k_least{400}, k_each_rank{100}, k_awake{150};
  std::int64_t moment = (Clock::now() + k_least + k_each_rank * ranks).time_since_epoch() / k_tick;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&moment, 1, MPI_INT64_T, 0, comm, &request);
  wait_quietly(request);
  const Clock::time_point start(moment * k_tick);
  std::this_thread::sleep_until(start - k_awake);
  while (Clock::now() < start)
    std::this_thread::yield();
  return start;
}

void agree(MPI_Comm comm, const std::string& failure) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int first = failure.empty() ? ranks : rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == ranks) return;
  std::array<char, 1024> text{};
  if (rank == first) failure.copy(text.data(), text.size() - 1);
  MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, first, comm);
  throw std::invalid_argument(text.data());
}

}  // namespace shoal::bench
