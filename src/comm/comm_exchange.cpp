// SPDX-License-Identifier: BSD-3-Clause
// What each rank has for others.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "comm/comm.hpp"
#include "comm/node_collectives.hpp"
#include "comm/tags.hpp"

namespace shoal {

namespace {
// MPI counts are int: longer messages go in pieces of this many bytes.
constexpr std::int64_t k_piece = 1 << 30;
}  // namespace

// Each rank's number i goes to rank i.
std::vector<std::int64_t> Comm::swap(const std::vector<std::int64_t>& to) const {
  if (!node_collectives_) {
    const auto both = std::make_shared<std::array<std::vector<std::int64_t>, 2>>();
    both->front() = to;
    both->back().resize(to.size());
    carry_out(both, "MPI_Ialltoall", [&](MPI_Comm comm, MPI_Request* request) {
      return MPI_Ialltoall(both->front().data(), 1, MPI_INT64_T, both->back().data(), 1, MPI_INT64_T, comm,
                           request);
    });
    return std::move(both->back());
  }
  std::vector<std::int64_t> from(to.size());
  node_collectives_->share(
      reinterpret_cast<const std::byte*>(to.data()),
      static_cast<std::int64_t>(to.size() * sizeof(std::int64_t)), [&](int r, const std::byte* theirs) {
        std::memcpy(&from[static_cast<std::size_t>(r)],
                    theirs + static_cast<std::size_t>(rank_) * sizeof(std::int64_t), sizeof(std::int64_t));
      });
  return from;
}

std::vector<Bytes> Comm::exchange(const std::vector<Bytes>& parts) const {
  const auto n = static_cast<std::size_t>(size_);
  // A rank that breaks the rule says so to all, so that all of them refuse it alike.
  std::vector<std::int64_t> to(n, -1);
  for (std::size_t i = 0; i < n && parts.size() == n; ++i)
    to[i] = static_cast<std::int64_t>(parts[i].size());
  const std::vector<std::int64_t> from = swap(to);
  if (*std::min_element(from.begin(), from.end()) < 0)
    throw Error(Code::internal, "exchange: a rank needs one part for each rank");

  const MPI_Comm mpi = handle();
  // All memory before the first message: afterwards no rank may leave alone.
  std::vector<Bytes> got(n);
  std::vector<MPI_Request> requests;
  agree_or_throw(caught([&] {
    std::size_t messages = 0;
    for (std::size_t r = 0; r < n; ++r) {
      messages +=
          static_cast<std::size_t>((from[r] + k_piece - 1) / k_piece + (to[r] + k_piece - 1) / k_piece);
      if (static_cast<int>(r) == rank_)
        got[r] = parts[r];
      else
        got[r].resize(static_cast<std::size_t>(from[r]));
    }
    requests.reserve(messages);
  }));
  // Longer parts go in pieces, which arrive in order.
  const auto in_pieces = [&](std::int64_t bytes, auto start) {
    for (std::int64_t at = 0; at < bytes; at += k_piece) {
      requests.push_back(MPI_REQUEST_NULL);
      start(at, static_cast<int>(std::min<std::int64_t>(k_piece, bytes - at)));
    }
  };
  // Each rank begins with its successor, so that not all send to the same one first.
  for (int step = 0; step < size_; ++step) {
    const int r = (rank_ + size_ - step) % size_;
    auto& part = got[static_cast<std::size_t>(r)];
    const std::int64_t bytes = from[static_cast<std::size_t>(r)];
    if (r == rank_) continue;
    in_pieces(bytes, [&](std::int64_t at, int length) {
      check_mpi(MPI_Irecv(part.data() + at, length, MPI_BYTE, r, tags::exchange, mpi, &requests.back()),
                "MPI_Irecv");
    });
  }
  for (int step = 1; step < size_; ++step) {
    const int r = (rank_ + step) % size_;
    const auto& part = parts[static_cast<std::size_t>(r)];
    in_pieces(to[static_cast<std::size_t>(r)], [&](std::int64_t at, int length) {
      check_mpi(MPI_Isend(part.data() + at, length, MPI_BYTE, r, tags::exchange, mpi, &requests.back()),
                "MPI_Isend");
    });
  }
  check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
  return got;
}

int Comm::count_naming(const std::vector<int>& to) const {
  const auto n = static_cast<std::size_t>(size_);
  if (node_collectives_) {
    std::vector<std::int64_t> named(n, 0);
    for (const int r : to)
      named[static_cast<std::size_t>(r)] = 1;
    const auto by = swap(named);
    return static_cast<int>(std::count(by.begin(), by.end(), 1));
  }
  const auto named = std::make_shared<std::vector<int>>(n + 1, 0);  // and their sum behind
  for (const int r : to)
    (*named)[static_cast<std::size_t>(r)] = 1;
  carry_out(named, "MPI_Ireduce_scatter_block", [&](MPI_Comm comm, MPI_Request* request) {
    return MPI_Ireduce_scatter_block(named->data(), &named->back(), 1, MPI_INT, MPI_SUM, comm, request);
  });
  return named->back();
}

std::vector<RankMessage> Comm::exchange(const std::vector<RankMessage>& parts) const {
  std::vector<int> to;
  std::vector<std::int64_t> lengths;
  for (const auto& part : parts) {
    to.push_back(part.rank);
    lengths.push_back(static_cast<std::int64_t>(part.bytes.size()));
  }
  std::vector<MPI_Request> requests;
  const auto finish = [&] {
    check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
              "MPI_Waitall");
    requests.clear();
  };
  // Lengths first: there is memory for all before the first part is sent, or all ranks learn that there is
  // not.
  struct Coming {
    int rank;
    std::int64_t length;
  };
  const MPI_Comm mpi = handle();
  std::vector<Coming> coming(static_cast<std::size_t>(count_naming(to)));
  for (std::size_t i = 0; i < to.size(); ++i)
    check_mpi(
        MPI_Isend(&lengths[i], 1, MPI_INT64_T, to[i], tags::exchange_length, mpi, &requests.emplace_back()),
        "MPI_Isend");
  for (auto& part : coming) {
    MPI_Status status;
    check_mpi(MPI_Recv(&part.length, 1, MPI_INT64_T, MPI_ANY_SOURCE, tags::exchange_length, mpi, &status),
              "MPI_Recv");
    part.rank = status.MPI_SOURCE;
  }
  finish();
  std::sort(coming.begin(), coming.end(), [](const Coming& a, const Coming& b) { return a.rank < b.rank; });
  std::vector<RankMessage> got;
  agree_or_throw(caught([&] {
    for (const auto& [rank, length] : coming)
      got.push_back({rank, Bytes(static_cast<std::size_t>(length))});
  }));
  const auto in_pieces = [&](std::int64_t bytes, auto start) {
    for (std::int64_t at = 0; at < bytes; at += k_piece) {
      requests.push_back(MPI_REQUEST_NULL);
      start(at, static_cast<int>(std::min<std::int64_t>(k_piece, bytes - at)));
    }
  };
  for (std::size_t i = 0; i < got.size(); ++i)
    in_pieces(coming[i].length, [&](std::int64_t at, int length) {
      check_mpi(MPI_Irecv(got[i].bytes.data() + at, length, MPI_BYTE, got[i].rank, tags::exchange, mpi,
                          &requests.back()),
                "MPI_Irecv");
    });
  for (const auto& part : parts)
    in_pieces(static_cast<std::int64_t>(part.bytes.size()), [&](std::int64_t at, int length) {
      check_mpi(MPI_Isend(part.bytes.data() + at, length, MPI_BYTE, part.rank, tags::exchange, mpi,
                          &requests.back()),
                "MPI_Isend");
    });
  finish();
  return got;
}

}  // namespace shoal
