// SPDX-License-Identifier: BSD-3-Clause
// Waiting in MPI for ranks that may never come. A collective call of MPI that is not over can neither be left
// nor its communicator freed: both are forgotten.
#include "comm/patience.hpp"

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
#include "comm/comm.hpp"
#include "comm/roll_call.hpp"
#include "comm/wait_state.hpp"

namespace shoal {

namespace {

constexpr int k_end_tag = 8;
constexpr Seconds k_hot = 200e-6;                  // in which a rank looks before it sleeps
constexpr Seconds k_longest_poll_interval = 1e-3;  // naps are an eighth of what was waited so far, or less
constexpr double k_matched = 10;  // times as long do ranks wait that have matched the same call
constexpr int k_looks = 32;       // MPI may take one message a call from those that came while nobody looked
constexpr Seconds k_away = 1e-2;  // since its last look, of a rank that others may have given up

/// What a rank says that waits no more.
struct Farewell {
  std::int32_t code = 0;
  std::array<char, 1020> message{};
};

// Of communicators on which nobody waits any more.
void never_free(std::shared_ptr<void> memory) {
  static auto& kept = *new std::vector<std::shared_ptr<void>>;
  kept.push_back(std::move(memory));
}

// Who hears of it passes it on.
void say_farewell(MPI_Comm comm, const Status& status) {
  Farewell message;
  message.code = static_cast<std::int32_t>(status.code);
  std::strncpy(message.message.data(), status.message.c_str(), message.message.size() - 1);
  send_along_powers_of_two(comm, k_end_tag, std::as_bytes(std::span(&message, 1)));
}

std::optional<Status> hear_farewell(MPI_Comm comm) {
  int there = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, k_end_tag, comm, &there, &status), "MPI_Iprobe");
  if (there == 0) return std::nullopt;
  Farewell heard;
  check_mpi(MPI_Recv(&heard, sizeof heard, MPI_BYTE, status.MPI_SOURCE, k_end_tag, comm, MPI_STATUS_IGNORE),
            "MPI_Recv");
  return Status{static_cast<Code>(heard.code), heard.message.data(), -1, {}, {}};
}

[[noreturn]] void part_for_ever(MPI_Comm comm, const Status& status, WaitState& wait_state, bool reports) {
  wait_state.break_off(status);
  if (reports) say_farewell(comm, wait_state.broken);
  throw Error(wait_state.broken);
}

}  // namespace

void send_along_powers_of_two(MPI_Comm comm, int tag, std::span<const std::byte> message) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const auto kept = std::make_shared<std::vector<std::byte>>(message.begin(), message.end());
  for (int step = 1; step < size; step *= 2)
    for (const int to : {(rank + step) % size, (rank + size - step) % size}) {
      MPI_Request request = MPI_REQUEST_NULL;
      if (MPI_Isend(kept->data(), static_cast<int>(kept->size()), MPI_BYTE, to, tag, comm, &request) ==
          MPI_SUCCESS)
        MPI_Request_free(&request);
    }
  never_free(kept);
}

void await_all(MPI_Comm comm, MPI_Request& request, const char* what, const std::shared_ptr<void>& memory,
               WaitState& wait_state, CallsOfMpi* calls) {
  const bool listens = calls != nullptr;
  if (listens) ++calls->number;
  std::optional<RollCall> roll;
  const Seconds start = now();
  const double limit = wait_state.wait_seconds * (wait_state.has_matched ? k_matched : 1);
  int looks = 0;
  for (;; ++looks) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
    if (done != 0) break;
    const Seconds waited = now() - start;
    if (waited < k_hot) {
      std::this_thread::yield();
      continue;
    }
    if (const auto heard = listens ? hear_farewell(comm) : std::nullopt) {
      never_free(memory);
      part_for_ever(comm, *heard, wait_state, true);
    }
    if (listens && !roll) roll.emplace(comm, calls->number);
    if (roll) roll->go_on(waited > limit);
    if (waited > limit && (!roll || roll->is_over())) {
      never_free(memory);
      const std::string missing = roll ? roll->missing() : "other ranks, which did not come";
      part_for_ever(comm, timeout_status(waited, wait_state.call, missing), wait_state, listens);
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(waited / 8, k_longest_poll_interval)));
  }
  // Others may have given up before this rank came, whose call is over at once.
  if (listens) {
    const bool was_away = now() - calls->looked > k_away;
    for (int left = was_away ? std::max(1, k_looks - looks) : 1; left > 0; --left)
      if (const auto heard = hear_farewell(comm)) part_for_ever(comm, *heard, wait_state, true);
    calls->looked = now();
  }
  wait_state.has_matched = true;
}

}  // namespace shoal
