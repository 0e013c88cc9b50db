// SPDX-License-Identifier: BSD-3-Clause
// Waiting for ranks that may never arrive.
#include <chrono>
#include <optional>
#include <thread>

#include "base/clock.hpp"
#include "comm/comm.hpp"
#include "comm/node_collectives.hpp"
#include "comm/tags.hpp"

namespace shoal {

namespace {

/// A message of Comm::all_arrive.
enum class Notice : unsigned char {
  arrived,   ///< to rank 0
  departed,  ///< to rank 0: this rank has given up before it was asked
  ask,       ///< of rank 0: all have arrived; is each still there?
  stays,     ///< the answer: this rank waits for the decision
  release,   ///< of rank 0: all are there
  give_up    ///< of rank 0: a rank is missing
};
void send(MPI_Comm comm, int to, Notice notice) {
  check_mpi(MPI_Send(&notice, 1, MPI_BYTE, to, tags::all_arrive, comm), "MPI_Send");
}

std::optional<Notice> receive(MPI_Comm comm, int from) {
  int there = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(from, tags::all_arrive, comm, &there, &status), "MPI_Iprobe");
  if (there == 0) return std::nullopt;
  Notice notice{};
  check_mpi(MPI_Recv(&notice, 1, MPI_BYTE, status.MPI_SOURCE, tags::all_arrive, comm, MPI_STATUS_IGNORE),
            "MPI_Recv");
  return notice;
}

// Does each of the others send the notice in time?
bool all_send(MPI_Comm comm, int size, Notice wanted, double seconds) {
  const Seconds start = now();
  for (int sent = 1; sent < size;) {
    const auto received = receive(comm, MPI_ANY_SOURCE);
    if (received == wanted)
      ++sent;
    else if (received || now() - start > seconds)
      return false;
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Rank 0 decides. A rank that was asked waits for the decision, and one that gives up earlier sends a notice:
// no rank goes on with one that has departed. (A barrier of MPI that is not over can neither be left nor its
// communicator freed.)
bool decide_for_all(MPI_Comm comm, int size, double seconds) {
  const auto send_all = [&](Notice notice) {
    for (int r = 1; r < size; ++r)
      send(comm, r, notice);
  };
  bool all = all_send(comm, size, Notice::arrived, seconds);
  if (all) {
    send_all(Notice::ask);
    all = all_send(comm, size, Notice::stays, seconds);
  }
  send_all(all ? Notice::release : Notice::give_up);
  return all;
}

bool answer_root(MPI_Comm comm, double seconds) {
  const Seconds start = now();
  send(comm, 0, Notice::arrived);
  for (bool asked = false;;) {
    const auto received = receive(comm, 0);
    if (received && received != Notice::ask) return received == Notice::release;
    if (received) {
      asked = true;
      send(comm, 0, Notice::stays);
    } else if (!asked && now() - start > seconds) {
      send(comm, 0, Notice::departed);
      return false;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace

bool Comm::all_arrive(double seconds) const {
  if (size_ == 1) return true;
  if (diverged()) return false;
  if (node_collectives_) return node_collectives_->all_arrive(seconds);
  return rank_ == 0 ? decide_for_all(handle(), size_, seconds) : answer_root(handle(), seconds);
}

}  // namespace shoal
