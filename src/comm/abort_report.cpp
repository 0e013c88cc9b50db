// SPDX-License-Identifier: BSD-3-Clause
#include "comm/abort_report.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <thread>

#include "base/clock.hpp"
#include "comm/cached_duplicate.hpp"
#include "comm/comm.hpp"
#include "comm/tags.hpp"
#include "comm/wait_state.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_most_bytes = 1500;        // of a message; every MPI sends so many without a receiver
constexpr Seconds k_quiet_report_interval = 0.2;  // without a report: no further ones are expected
constexpr Seconds k_longest_collection = 1.0;     // of reports, by rank 0
constexpr Seconds k_abort_of_root = 1.5;          // until rank 0 has stopped the job, if it fails
constexpr Seconds k_spread_of_ranks = 1.0;        // between the first and the last of the other ranks
constexpr Seconds k_abort_by_root = 10.0;         // until a rank is stopped that rank 0 has the report of

void pause() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// The next report that has arrived, if any.
bool received(MPI_Comm comm, std::string& message, int& rank) {
  int there = 0;
  int bytes = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, tags::abort_report, comm, &there, &status) != MPI_SUCCESS || there == 0)
    return false;
  if (MPI_Get_count(&status, MPI_BYTE, &bytes) != MPI_SUCCESS) return false;
  message.resize(static_cast<std::size_t>(bytes));
  rank = status.MPI_SOURCE;
  return MPI_Recv(message.data(), bytes, MPI_BYTE, rank, tags::abort_report, comm, MPI_STATUS_IGNORE) ==
         MPI_SUCCESS;
}

void add(std::vector<AbortReport>& all, std::string message, int rank) {
  const auto same = std::find_if(all.begin(), all.end(), [&](const AbortReport& report) {
    return std::string_view(report.message).substr(0, k_most_bytes) == message;
  });
  if (same == all.end())
    all.push_back({std::move(message), rank, 0});
  else
    ++same->others;
}

std::vector<AbortReport> collected(MPI_Comm comm, int size, const std::string& mine) {
  std::vector<AbortReport> all{{mine, 0, 0}};
  const Seconds start = now();
  Seconds last = start;
  std::string message;
  std::vector<MPI_Request> answers;
  for (int rank = 0, came = 1;
       came < size && now() - start < k_longest_collection && now() - last < k_quiet_report_interval;) {
    if (!received(comm, message, rank)) {
      pause();
      continue;
    }
    add(all, message, rank);
    answers.emplace_back();
    MPI_Isend(nullptr, 0, MPI_BYTE, rank, tags::abort_receipt, comm, &answers.back());
    ++came;
    last = now();
  }
  int sent = 0;
  MPI_Testall(static_cast<int>(answers.size()), answers.data(), &sent, MPI_STATUSES_IGNORE);
  return all;
}

/// Has rank 0 received the report, and confirmed it?
bool report_to_root(MPI_Comm comm, int rank, int size, const std::string& mine) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int bytes = static_cast<int>(std::min(mine.size(), k_most_bytes));
  if (MPI_Isend(mine.data(), bytes, MPI_BYTE, 0, tags::abort_report, comm, &request) != MPI_SUCCESS)
    return false;
  Seconds until = now() + k_abort_of_root + k_spread_of_ranks * rank / size;
  int is_received = 0;
  for (int sent = 0; now() < until; pause()) {
    if (sent == 0) MPI_Test(&request, &sent, MPI_STATUS_IGNORE);
    if (is_received != 0) continue;
    MPI_Iprobe(0, tags::abort_receipt, comm, &is_received, MPI_STATUS_IGNORE);
    if (is_received != 0) until = now() + k_abort_by_root;
  }
  return is_received != 0;
}

}  // namespace

std::vector<AbortReport> collect_abort_reports(MPI_Comm comm, const std::string& message) {
  int rank = 0;
  int size = 1;
  // The program may have freed its communicator, which is an error of MPI_COMM_WORLD.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (MPI_Comm_rank(comm, &rank) != MPI_SUCCESS || MPI_Comm_size(comm, &size) != MPI_SUCCESS) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return {{message, rank, 0}};
  }
  std::vector<AbortReport> all{{message, rank, 0}};
  caught([&] {
    // Nobody can get a message of the program's own by mistake there.
    const CachedDuplicate duplicate = cached_duplicate(comm);
    if (size == 1 || duplicate == nullptr || !duplicate->wait_state().broken.ok()) return;
    if (rank == 0)
      all = collected(duplicate->ranks(), size, message);
    else if (report_to_root(duplicate->ranks(), rank, size, message))
      all.clear();
  });
  return all;
}

}  // namespace shoal
