// SPDX-License-Identifier: BSD-3-Clause
// Waiting for ranks that may never come.
#include <chrono>
#include <optional>
#include <thread>

#include "base/clock.hpp"
#include "comm/comm.hpp"
#include "comm/node_collectives.hpp"

namespace shoal {

namespace {
constexpr int k_call_tag = 7;

/// What ranks say to each other that wait for all (all_come).
enum class Call : unsigned char { here, gone, ask, stays, go, part };
void say(MPI_Comm comm, int to, Call call) {
  check_mpi(MPI_Send(&call, 1, MPI_BYTE, to, k_call_tag, comm), "MPI_Send");
}

std::optional<Call> hear(MPI_Comm comm, int from) {
  int there = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(from, k_call_tag, comm, &there, &status), "MPI_Iprobe");
  if (there == 0) return std::nullopt;
  Call call{};
  check_mpi(MPI_Recv(&call, 1, MPI_BYTE, status.MPI_SOURCE, k_call_tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
  return call;
}

// Does each of the others say it in time?
bool all_say(MPI_Comm comm, int size, Call wanted, double seconds) {
  const Seconds start = now();
  for (int said = 1; said < size;) {
    const auto heard = hear(comm, MPI_ANY_SOURCE);
    if (heard == wanted)
      ++said;
    else if (heard || now() - start > seconds)
      return false;
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Rank 0 decides. Who was asked waits for what it decides, and who gives up before says so: nobody goes on
// with a rank that is gone. (A barrier of MPI that is not over can neither be left nor its communicator
// freed.)
bool call_all(MPI_Comm comm, int size, double seconds) {
  const auto report_all = [&](Call call) {
    for (int r = 1; r < size; ++r)
      say(comm, r, call);
  };
  bool all = all_say(comm, size, Call::here, seconds);
  if (all) {
    report_all(Call::ask);
    all = all_say(comm, size, Call::stays, seconds);
  }
  report_all(all ? Call::go : Call::part);
  return all;
}

bool answer_call(MPI_Comm comm, double seconds) {
  const Seconds start = now();
  say(comm, 0, Call::here);
  for (bool asked = false;;) {
    const auto heard = hear(comm, 0);
    if (heard && heard != Call::ask) return heard == Call::go;
    if (heard) {
      asked = true;
      say(comm, 0, Call::stays);
    } else if (!asked && now() - start > seconds) {
      say(comm, 0, Call::gone);
      return false;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace

bool Comm::all_come(double seconds) const {
  if (size_ == 1) return true;
  if (diverged()) return false;
  if (node_collectives_) return node_collectives_->all_come(seconds);
  return rank_ == 0 ? call_all(handle(), size_, seconds) : answer_call(handle(), seconds);
}

}  // namespace shoal
