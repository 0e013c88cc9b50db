// SPDX-License-Identifier: BSD-3-Clause
// Gathering, scattering and reducing.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>

#include "comm/comm.hpp"
#include "comm/meeting_room.hpp"

namespace shoal {

namespace {
constexpr std::int64_t k_small = 256 * 1024;  // in shared memory that everybody reads it goes faster

void check_length(std::int64_t bytes, const char* what) {
  if (bytes > std::numeric_limits<int>::max())
    throw Error(Code::not_supported, std::string(what) + ": more than 2 GiB of metadata in one message");
}
}  // namespace

void Comm::barrier() const {
  if (room_) return room_->share(nullptr, 0, [](int, const std::byte*) {});
  check_mpi(MPI_Barrier(handle()), "MPI_Barrier");
}

template <class T, class Join>
void Comm::join_all(T* numbers, int count, MPI_Op op, MPI_Datatype type, Join&& join) const {
  if (!room_) {
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, numbers, count, type, op, handle()), "MPI_Allreduce");
    return;
  }
  const auto most = static_cast<int>(room_->most_bytes() / static_cast<std::int64_t>(sizeof(T)));
  for (int at = 0; at < count; at += most) {
    T* const part = numbers + at;
    const int n = std::min(most, count - at);
    room_->share(reinterpret_cast<const std::byte*>(part), n * static_cast<std::int64_t>(sizeof(T)),
                 [&](int rank, const std::byte* theirs) {
                   for (int i = 0; i < n; ++i) {
                     T number{};
                     std::memcpy(&number, theirs + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
                     part[i] = rank == 0 ? number : join(part[i], number);
                   }
                 });
  }
}

void Comm::most_of(std::int64_t* numbers, int count) const {
  join_all(numbers, count, MPI_MAX, MPI_INT64_T, [](auto a, auto b) { return std::max(a, b); });
}

std::int64_t Comm::sum(std::int64_t mine) const {
  join_all(&mine, 1, MPI_SUM, MPI_INT64_T, [](auto a, auto b) { return a + b; });
  return mine;
}

std::int64_t Comm::max(std::int64_t mine) const {
  most_of(&mine, 1);
  return mine;
}

std::int64_t Comm::min(std::int64_t mine) const {
  join_all(&mine, 1, MPI_MIN, MPI_INT64_T, [](auto a, auto b) { return std::min(a, b); });
  return mine;
}

std::vector<std::int64_t> Comm::max(std::vector<std::int64_t> mine) const {
  most_of(mine.data(), static_cast<int>(mine.size()));
  return mine;
}

double Comm::max(double mine) const {
  join_all(&mine, 1, MPI_MAX, MPI_DOUBLE, [](auto a, auto b) { return std::max(a, b); });
  return mine;
}

std::vector<std::int64_t> Comm::all_gather(std::int64_t mine) const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(size_));
  if (room_)
    room_->share(reinterpret_cast<const std::byte*>(&mine), sizeof mine, [&](int r, const std::byte* theirs) {
      std::memcpy(&all[static_cast<std::size_t>(r)], theirs, sizeof mine);
    });
  else
    check_mpi(MPI_Allgather(&mine, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, handle()), "MPI_Allgather");
  return all;
}

std::vector<Bytes> Comm::all_gather(const Bytes& mine) const {
  ByteWriter out;
  for (const auto& part : gather(mine, 0))
    out.put(part);
  Bytes all = out.take();
  broadcast(all, 0);
  ByteReader in(all);
  std::vector<Bytes> parts(static_cast<std::size_t>(size_));
  for (auto& part : parts)
    in.get(part);
  return parts;
}

std::vector<Bytes> Comm::gather(const Bytes& mine, int root) const {
  const auto lengths = all_gather(static_cast<std::int64_t>(mine.size()));
  const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::vector<Bytes> parts;
  if (rank_ == root)
    for (const auto length : lengths)
      parts.emplace_back(static_cast<std::size_t>(length));
  if (room_ && longest <= room_->most_bytes()) {
    Bytes padded = mine;
    padded.resize(static_cast<std::size_t>(longest));
    room_->collect(padded.data(), longest, root, [&](int r, const std::byte* theirs) {
      auto& part = parts[static_cast<std::size_t>(r)];
      std::copy_n(theirs, part.size(), part.begin());
    });
    return parts;
  }
  check_length(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}), "MPI_Gatherv");
  const std::vector<int> counts(lengths.begin(), lengths.end());
  std::vector<int> offsets(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  Bytes all(rank_ == root ? static_cast<std::size_t>(offsets.back() + counts.back()) : 0);
  check_mpi(MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, all.data(), counts.data(),
                        offsets.data(), MPI_BYTE, root, handle()),
            "MPI_Gatherv");
  for (std::size_t i = 0; i < parts.size(); ++i)
    std::copy_n(all.begin() + offsets[i], counts[i], parts[i].begin());
  return parts;
}

std::vector<std::int64_t> Comm::gather(const std::vector<std::int64_t>& mine, int root) const {
  const std::size_t n = mine.size();
  const auto bytes = static_cast<std::int64_t>(n * sizeof(std::int64_t));
  std::vector<std::int64_t> all;
  if (rank_ == root) all.resize(n * static_cast<std::size_t>(size_));
  if (room_ && bytes <= room_->most_bytes())
    room_->collect(reinterpret_cast<const std::byte*>(mine.data()), bytes, root,
                   [&](int r, const std::byte* theirs) {
                     if (bytes > 0)
                       std::memcpy(all.data() + static_cast<std::size_t>(r) * n, theirs,
                                   static_cast<std::size_t>(bytes));
                   });
  else
    check_mpi(MPI_Gather(mine.data(), static_cast<int>(n), MPI_INT64_T, all.data(), static_cast<int>(n),
                         MPI_INT64_T, root, handle()),
              "MPI_Gather");
  return all;
}

// Everybody gets all of it.
Bytes Comm::scatter_in_room(const std::vector<Bytes>& parts, int root) const {
  ByteWriter out;
  if (rank_ == root)
    for (const auto& part : parts)
      out.put(part);
  Bytes all = out.take();
  broadcast(all, root);
  ByteReader in(all);
  Bytes mine;
  for (int r = 0; r <= rank_; ++r)
    in.get(mine);
  return mine;
}

Bytes Comm::scatter(const std::vector<Bytes>& parts, int root) const {
  const bool is_root = rank_ == root;
  const bool one_each = parts.size() == static_cast<std::size_t>(size_);
  std::int64_t total = 0;
  for (const auto& part : parts)
    total += static_cast<std::int64_t>(part.size());
  if (room_) {
    std::int64_t small = one_each && total <= k_small ? 1 : 0;
    broadcast(reinterpret_cast<std::byte*>(&small), sizeof small, root);
    if (small != 0) return scatter_in_room(parts, root);
  }
  // Each rank hears of the total as well, so that all of them refuse it alike.
  using Lengths = std::array<std::int64_t, 2>;
  std::vector<Lengths> lengths;
  if (is_root) lengths.assign(static_cast<std::size_t>(size_), Lengths{0, one_each ? total : -1});
  for (std::size_t i = 0; i < lengths.size() && one_each; ++i)
    lengths[i][0] = static_cast<std::int64_t>(parts[i].size());
  Lengths mine{};
  check_mpi(MPI_Scatter(lengths.data(), 2, MPI_INT64_T, mine.data(), 2, MPI_INT64_T, root, handle()),
            "MPI_Scatter");
  if (mine[1] < 0) throw Error(Code::internal, "MPI_Scatterv: the root needs one part for each rank");
  check_length(mine[1], "MPI_Scatterv");
  std::vector<int> counts;
  std::vector<int> offsets;
  Bytes all;
  if (is_root) {
    for (const auto& part : parts) {
      counts.push_back(static_cast<int>(part.size()));
      offsets.push_back(static_cast<int>(all.size()));
      all.insert(all.end(), part.begin(), part.end());
    }
  }
  const auto count = static_cast<int>(mine[0]);
  Bytes bytes(static_cast<std::size_t>(count));
  check_mpi(MPI_Scatterv(all.data(), counts.data(), offsets.data(), MPI_BYTE, bytes.data(), count, MPI_BYTE,
                         root, handle()),
            "MPI_Scatterv");
  return bytes;
}

}  // namespace shoal
