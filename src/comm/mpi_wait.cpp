// SPDX-License-Identifier: BSD-3-Clause
#include "comm/mpi_wait.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "comm/arrival_query.hpp"
#include "comm/mpi_calls.hpp"
#include "comm/tags.hpp"
#include "comm/wait_state.hpp"

namespace shoal {

namespace {

constexpr Seconds k_busy_poll_interval = 200e-6;
constexpr Seconds k_longest_poll_interval = 1e-3;  // or an eighth of the time waited so far
constexpr double k_matched_factor = 10;
constexpr Seconds k_absence_interval = 1e-2;
constexpr int k_notice_polls = 32;  // MPI may take one message a call of those that arrived during an absence

/// The message of a rank that waits no more.
struct DepartureNotice {
  std::int32_t code = 0;
  std::array<char, 1020> message{};
};

// Each rank that receives a notice passes it on.
void announce_departure(MPI_Comm comm, const Status& status) {
  DepartureNotice message;
  message.code = static_cast<std::int32_t>(status.code);
  std::strncpy(message.message.data(), status.message.c_str(), message.message.size() - 1);
  send_along_powers_of_two(comm, tags::departure, std::as_bytes(std::span(&message, 1)));
}

std::optional<Status> receive_departure(MPI_Comm comm) {
  int there = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tags::departure, comm, &there, &status), "MPI_Iprobe");
  if (there == 0) return std::nullopt;
  DepartureNotice notice;
  check_mpi(
      MPI_Recv(&notice, sizeof notice, MPI_BYTE, status.MPI_SOURCE, tags::departure, comm, MPI_STATUS_IGNORE),
      "MPI_Recv");
  return Status{static_cast<Code>(notice.code), notice.message.data()};
}

[[noreturn]] void depart(MPI_Comm comm, const Status& status, WaitState& wait_state, bool announces) {
  wait_state.break_off(status);
  if (announces) announce_departure(comm, wait_state.broken);
  throw Error(wait_state.broken);
}

}  // namespace

void await_all(MPI_Comm comm, MPI_Request& request, const char* what, const std::shared_ptr<void>& memory,
               WaitState& wait_state, CallsOfMpi* calls) {
  const bool listens = calls != nullptr;
  if (listens) ++calls->number;
  std::optional<ArrivalQuery> query;
  const Seconds start = now();
  const double limit = wait_state.wait_seconds * (wait_state.has_matched ? k_matched_factor : 1);
  int polls = 0;
  for (;; ++polls) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
    if (done != 0) break;
    const Seconds waited = now() - start;
    if (waited < k_busy_poll_interval) {
      std::this_thread::yield();
      continue;
    }
    if (const auto notice = listens ? receive_departure(comm) : std::nullopt) {
      keep_until_exit(memory);
      depart(comm, *notice, wait_state, true);
    }
    if (listens && !query) query.emplace(comm, calls->number);
    if (query) query->progress(waited > limit);
    if (waited > limit && (!query || query->is_over())) {
      keep_until_exit(memory);
      const std::string missing = query ? query->missing() : "other ranks, which did not come";
      depart(comm, timeout_status(waited, wait_state.call, missing), wait_state, listens);
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(waited / 8, k_longest_poll_interval)));
  }
  // Others may have departed before this rank arrived, whose call is over at once.
  if (listens) {
    const bool was_absent = now() - calls->last_polled > k_absence_interval;
    for (int left = was_absent ? std::max(1, k_notice_polls - polls) : 1; left > 0; --left)
      if (const auto notice = receive_departure(comm)) depart(comm, *notice, wait_state, true);
    calls->last_polled = now();
  }
  wait_state.has_matched = true;
}

}  // namespace shoal
