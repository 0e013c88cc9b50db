// SPDX-License-Identifier: BSD-3-Clause
#include "rearrange/messages.hpp"

#include <algorithm>

#include "base/numbered.hpp"
#include "comm/tags.hpp"

namespace shoal {

namespace {

// Of a batch: each wait looks at all of them.
constexpr std::size_t k_most_requests = 256;

/// Messages of one way that are under way together. Request i belongs to message first + i.
struct Batch {
  std::size_t first = 0, end = 0;
  Numbered<std::int64_t> places;
  Numbered<MPI_Request> requests;
  std::size_t open = 0;  ///< requests that are not over
};

/// Starts the next batch: as many messages as fit.
template <class Start>
void fill(Batch& batch, std::span<const Message> messages, int self, std::int64_t buffer, Start&& start) {
  batch.first = batch.end;
  batch.places.clear();
  batch.requests.clear();
  std::int64_t at = 0;
  while (batch.end < messages.size()) {
    const Message& message = messages[batch.end];
    if (at > 0 && (at + message.bytes > buffer || batch.open == k_most_requests)) break;
    batch.places.push_back(at);
    batch.requests.push_back(MPI_REQUEST_NULL);
    if (message.rank != self) {
      start(batch.end, at, &batch.requests.back());
      ++batch.open;
      at += whole_lines(message.bytes);
    }
    ++batch.end;
  }
}

std::size_t find_rank(std::span<const Message> messages, int rank) {
  const auto at =
      std::find_if(messages.begin(), messages.end(), [&](const Message& m) { return m.rank == rank; });
  return static_cast<std::size_t>(at - messages.begin());
}

}  // namespace

void exchange_messages(const Comm& comm, MessageBuffers& buffers, std::span<const Message> out,
                       const std::function<std::int64_t(std::size_t, std::byte*)>& pack,
                       std::span<const Message> in,
                       const std::function<void(std::size_t, const std::byte*, std::int64_t)>& unpack) {
  const int self = comm.rank();
  std::byte* const to_send = out.empty() ? nullptr : buffers.out.of(buffers.bytes);
  std::byte* const received = in.empty() ? nullptr : buffers.in.of(buffers.bytes);
  const std::size_t to_self = find_rank(out, self);
  if (to_self < out.size()) {
    const std::int64_t got = pack(to_self, to_send);
    unpack(find_rank(in, self), to_send, got);
  }
  Batch sends;
  Batch receives;
  std::vector<MPI_Request> all;
  Numbered<int> over;
  Numbered<MPI_Status> statuses;
  for (;;) {
    while (receives.open == 0 && receives.end < in.size())
      fill(receives, in, self, buffers.bytes, [&](std::size_t i, std::int64_t at, MPI_Request* request) {
        check_mpi(MPI_Irecv(received + at, static_cast<int>(in[i].bytes), MPI_BYTE, in[i].rank,
                            tags::rearranged, comm.handle(), request),
                  "MPI_Irecv");
      });
    while (sends.open == 0 && sends.end < out.size())
      fill(sends, out, self, buffers.bytes, [&](std::size_t i, std::int64_t at, MPI_Request* request) {
        const std::int64_t length = pack(i, to_send + at);
        check_mpi(MPI_Isend(to_send + at, static_cast<int>(length), MPI_BYTE, out[i].rank, tags::rearranged,
                            comm.handle(), request),
                  "MPI_Isend");
      });
    if (receives.open + sends.open == 0) return;
    const std::size_t n = receives.requests.size();
    all = receives.requests;
    all.insert(all.end(), sends.requests.begin(), sends.requests.end());
    over.resize(all.size());
    statuses.resize(all.size());
    int count = 0;
    check_mpi(MPI_Waitsome(static_cast<int>(all.size()), all.data(), &count, over.data(), statuses.data()),
              "MPI_Waitsome");
    for (int k = 0; k < count; ++k) {
      const auto i = static_cast<std::size_t>(over[k]);
      if (i >= n) {
        sends.requests[i - n] = MPI_REQUEST_NULL;
        --sends.open;
        continue;
      }
      receives.requests[i] = MPI_REQUEST_NULL;
      --receives.open;
      int got = 0;
      MPI_Get_count(&statuses[k], MPI_BYTE, &got);
      unpack(receives.first + i, received + receives.places[i], got);
    }
  }
}

}  // namespace shoal
