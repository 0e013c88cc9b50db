// SPDX-License-Identifier: BSD-3-Clause
#include "methods/python_worker.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace shoal::bench {

namespace {

// What the process finds these at. Ours are above, so that none takes another's place.
constexpr int k_socket = 3, k_memory = 4, k_least = 10;

[[noreturn]] void failed(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

int above(int fd) {
  const int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, k_least);
  if (moved < 0) failed("a descriptor for a process of Python");
  close(fd);
  return moved;
}

}  // namespace

PythonWorker::PythonWorker(std::size_t shared_bytes) : bytes_(shared_bytes) {
  const char* const named = std::getenv("BENCH_PYTHON");
  python_ = named != nullptr && *named != '\0' ? named : "python3";
  const int memory = above(memfd_create("shoal-bench", MFD_CLOEXEC));
  if (ftruncate(memory, static_cast<off_t>(bytes_)) != 0) failed("memory to share with Python");
  void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memory, 0);
  if (mapped == MAP_FAILED) failed("memory to share with Python");
  shared_ = static_cast<std::byte*>(mapped);
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) failed("a socket");
  socket_ = above(ends[0]);
  const int other = above(ends[1]);
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, other, k_socket);
  posix_spawn_file_actions_adddup2(&actions, memory, k_memory);
  // Standard output has the benchmark's results.
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  std::string own = python_, module = "shoal_bench.zarr_worker", flag = "-m";
  std::array<char*, 4> arguments{own.data(), flag.data(), module.data(), nullptr};
  const int status = posix_spawnp(&process_, python_.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(other);
  close(memory);
  if (status != 0) process_ = -1;
}

PythonWorker::~PythonWorker() {
  close(socket_);  // it ends by itself
  if (process_ > 0)
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  munmap(shared_, bytes_);
}

void PythonWorker::ended() const {
  throw std::runtime_error(
      "python: '" + python_ +
      " -m shoal_bench.zarr_worker' did not answer; BENCH_PYTHON names an interpreter that has shoal-bench, "
      "zarr 3 and xarray: pip install shoal-bench 'zarr>=3' xarray");
}

void PythonWorker::ask(const Json& request) {
  const std::string line = line_of(request) + "\n";
  for (std::size_t at = 0; at < line.size();) {
    const auto sent = send(socket_, line.data() + at, line.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) ended();
    at += static_cast<std::size_t>(sent);
  }
  std::string answer;
  while (answer.empty() || answer.back() != '\n') {
    std::array<char, 4096> part{};
    const auto got = recv(socket_, part.data(), part.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) ended();
    answer.append(part.data(), static_cast<std::size_t>(got));
  }
  const auto error = Json::parse(answer).value("error", std::string());
  if (!error.empty()) throw std::runtime_error("python: " + error);
}

}  // namespace shoal::bench
