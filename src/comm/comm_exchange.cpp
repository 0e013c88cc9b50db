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

/// Parts of any length on their way between ranks; the pieces of one arrive in order.
class PiecedMessages {
 public:
  explicit PiecedMessages(MPI_Comm comm) : comm_(comm) {}

  static std::int64_t pieces_of(std::int64_t bytes) { return (bytes + k_piece - 1) / k_piece; }
  void reserve(std::int64_t pieces) { requests_.reserve(pieces); }
  MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }
  void send(const Bytes& part, int rank) {
    in_pieces(part, [&](std::int64_t at, int n) {
      check_mpi(MPI_Isend(part.data() + at, n, MPI_BYTE, rank, tags::exchange, comm_, add()), "MPI_Isend");
    });
  }
  void receive(Bytes& part, int rank) {
    in_pieces(part, [&](std::int64_t at, int n) {
      check_mpi(MPI_Irecv(part.data() + at, n, MPI_BYTE, rank, tags::exchange, comm_, add()), "MPI_Irecv");
    });
  }
  void finish() {
    check_mpi(MPI_Waitall(requests_.count(), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    requests_.clear();
  }

 private:
  template <class Start>
  static void in_pieces(const Bytes& part, Start&& start) {
    const auto bytes = static_cast<std::int64_t>(part.size());
    for (std::int64_t at = 0; at < bytes; at += k_piece)
      start(at, static_cast<int>(std::min(k_piece, bytes - at)));
  }

  MPI_Comm comm_;
  Numbered<MPI_Request> requests_;
};
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
  Numbered<std::int64_t> from(to.size());
  const auto at = rank_ * static_cast<std::int64_t>(sizeof from[0]);
  node_collectives_->share(
      reinterpret_cast<const std::byte*>(to.data()), static_cast<std::int64_t>(to.size() * sizeof to[0]),
      [&](int r, const std::byte* theirs) { std::memcpy(&from[r], theirs + at, sizeof from[0]); });
  return from;
}

std::vector<Bytes> Comm::exchange(const std::vector<Bytes>& parts) const {
  // A rank that breaks the rule says so to all, so that all of them refuse it alike.
  Numbered<std::int64_t> to(size_, -1);
  for (std::size_t i = 0; i < to.size() && parts.size() == to.size(); ++i)
    to[i] = static_cast<std::int64_t>(parts[i].size());
  const Numbered<std::int64_t> from = swap(to);
  if (*std::min_element(from.begin(), from.end()) < 0)
    throw Error(Code::internal, "exchange: a rank needs one part for each rank");

  PiecedMessages messages(handle());
  // All memory before the first message: afterwards no rank may leave alone.
  Numbered<Bytes> got(size_);
  agree_or_throw(caught([&] {
    std::int64_t pieces = 0;
    for (int r = 0; r < size_; ++r) {
      pieces += PiecedMessages::pieces_of(from[r]) + PiecedMessages::pieces_of(to[r]);
      got[r] = r == rank_ ? parts[static_cast<std::size_t>(r)] : Bytes(static_cast<std::size_t>(from[r]));
    }
    messages.reserve(pieces);
  }));
  // Each rank begins with its successor, so that not all send to the same one first.
  for (int step = 1; step < size_; ++step) {
    const int r = (rank_ + size_ - step) % size_;
    messages.receive(got[r], r);
  }
  for (int step = 1; step < size_; ++step) {
    const int r = (rank_ + step) % size_;
    messages.send(parts[static_cast<std::size_t>(r)], r);
  }
  messages.finish();
  return got;
}

int Comm::count_naming(const std::vector<int>& to) const {
  if (node_collectives_) {
    Numbered<std::int64_t> named(size_, 0);
    for (const int r : to)
      named[r] = 1;
    const auto by = swap(named);
    return static_cast<int>(std::count(by.begin(), by.end(), 1));
  }
  const auto named = std::make_shared<Numbered<int>>(size_ + 1, 0);  // and their sum behind
  for (const int r : to)
    (*named)[r] = 1;
  carry_out(named, "MPI_Ireduce_scatter_block", [&](MPI_Comm comm, MPI_Request* request) {
    return MPI_Ireduce_scatter_block(named->data(), &named->back(), 1, MPI_INT, MPI_SUM, comm, request);
  });
  return named->back();
}

std::vector<RankMessage> Comm::exchange(const std::vector<RankMessage>& parts) const {
  Numbered<int> to;
  std::vector<std::int64_t> lengths;
  for (const auto& part : parts) {
    to.push_back(part.rank);
    lengths.push_back(static_cast<std::int64_t>(part.bytes.size()));
  }
  // Lengths first: there is memory for all before the first part is sent, or all ranks learn that there is
  // not.
  struct Coming {
    int rank;
    std::int64_t length;
  };
  const MPI_Comm mpi = handle();
  PiecedMessages messages(mpi);
  Numbered<Coming> coming(count_naming(to));
  for (std::size_t i = 0; i < to.size(); ++i)
    check_mpi(MPI_Isend(&lengths[i], 1, MPI_INT64_T, to[i], tags::exchange_length, mpi, messages.add()),
              "MPI_Isend");
  for (auto& part : coming) {
    MPI_Status status;
    check_mpi(MPI_Recv(&part.length, 1, MPI_INT64_T, MPI_ANY_SOURCE, tags::exchange_length, mpi, &status),
              "MPI_Recv");
    part.rank = status.MPI_SOURCE;
  }
  messages.finish();
  std::sort(coming.begin(), coming.end(), [](const Coming& a, const Coming& b) { return a.rank < b.rank; });
  std::vector<RankMessage> got;
  agree_or_throw(caught([&] {
    for (const auto& [rank, length] : coming)
      got.push_back({rank, Bytes(static_cast<std::size_t>(length))});
  }));
  for (auto& part : got)
    messages.receive(part.bytes, part.rank);
  for (const auto& part : parts)
    messages.send(part.bytes, part.rank);
  messages.finish();
  return got;
}

}  // namespace shoal
