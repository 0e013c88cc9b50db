// SPDX-License-Identifier: BSD-3-Clause
// Gathering, scattering and reducing.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "comm/comm.hpp"
#include "comm/node_collectives.hpp"

namespace shoal {

namespace {
constexpr std::int64_t k_small = 256 * 1024;  // in shared memory that everybody reads it goes faster

/// Memory of calls of MPI, which may be longer in use than the call that began them.
struct Both {
  Both(std::int64_t n, int ranks) : mine(n), all(n * ranks) {}
  Numbered<std::int64_t> mine, all;
};
struct Parts {
  Bytes mine, all;
  std::vector<int> counts, offsets;
  Numbered<std::array<std::int64_t, 2>> lengths;
  std::array<std::int64_t, 2> length{};
};

void check_length(std::int64_t bytes, const char* what) {
  if (bytes > std::numeric_limits<int>::max())
    throw Error(Code::not_supported, std::string(what) + ": more than 2 GiB of metadata in one message");
}
}  // namespace

void Comm::barrier() const {
  if (node_collectives_) return node_collectives_->share(nullptr, 0, [](int, const std::byte*) {});
  if (size_ == 1) return;
  carry_out(nullptr, "MPI_Ibarrier",
            [](MPI_Comm comm, MPI_Request* request) { return MPI_Ibarrier(comm, request); });
}

template <class T, class Join>
void Comm::join_all(T* numbers, int count, MPI_Op op, MPI_Datatype type, Join&& join) const {
  if (!node_collectives_) {
    if (size_ == 1) return;
    const auto all = std::make_shared<std::vector<T>>(numbers, numbers + count);
    carry_out(all, "MPI_Iallreduce", [&](MPI_Comm comm, MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, all->data(), count, type, op, comm, request);
    });
    std::copy(all->begin(), all->end(), numbers);
    return;
  }
  const auto most = static_cast<int>(node_collectives_->most_bytes() / static_cast<std::int64_t>(sizeof(T)));
  for (int at = 0; at < count; at += most) {
    T* const part = numbers + at;
    const int n = std::min(most, count - at);
    node_collectives_->share(
        reinterpret_cast<const std::byte*>(part), n * static_cast<std::int64_t>(sizeof(T)),
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

std::vector<std::int64_t> Comm::sum(std::vector<std::int64_t> mine) const {
  join_all(mine.data(), static_cast<int>(mine.size()), MPI_SUM, MPI_INT64_T,
           [](auto a, auto b) { return a + b; });
  return mine;
}

std::vector<std::int64_t> Comm::any_bits(std::vector<std::int64_t> mine) const {
  join_all(mine.data(), static_cast<int>(mine.size()), MPI_BOR, MPI_INT64_T,
           [](auto a, auto b) { return a | b; });
  return mine;
}

double Comm::max(double mine) const {
  join_all(&mine, 1, MPI_MAX, MPI_DOUBLE, [](auto a, auto b) { return std::max(a, b); });
  return mine;
}

Numbered<std::int64_t> Comm::all_gather(std::int64_t mine) const {
  if (!node_collectives_) {
    const auto both = std::make_shared<Both>(1, size_);
    both->mine[0] = mine;
    carry_out(both, "MPI_Iallgather", [&](MPI_Comm comm, MPI_Request* request) {
      return MPI_Iallgather(both->mine.data(), 1, MPI_INT64_T, both->all.data(), 1, MPI_INT64_T, comm,
                            request);
    });
    return std::move(both->all);
  }
  Numbered<std::int64_t> all(size_);
  node_collectives_->share(
      reinterpret_cast<const std::byte*>(&mine), sizeof mine,
      [&](int r, const std::byte* theirs) { std::memcpy(&all[r], theirs, sizeof mine); });
  return all;
}

std::vector<Bytes> Comm::all_gather(const Bytes& mine) const {
  ByteWriter out;
  for (const auto& part : gather(mine, 0))
    out.put(part);
  Bytes all = out.take();
  broadcast(all, 0);
  ByteReader in(all);
  Numbered<Bytes> parts(size_);
  for (auto& part : parts)
    in.get(part);
  return parts;
}

std::vector<Bytes> Comm::gather(const Bytes& mine, int root) const {
  const auto lengths = all_gather(static_cast<std::int64_t>(mine.size()));
  const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  Numbered<Bytes> parts;
  if (rank_ == root)
    for (const auto length : lengths)
      parts.emplace_back(static_cast<std::size_t>(length));
  if (node_collectives_ && longest <= node_collectives_->most_bytes()) {
    Bytes padded = mine;
    padded.resize(static_cast<std::size_t>(longest));
    node_collectives_->collect(padded.data(), longest, root, [&](int r, const std::byte* theirs) {
      auto& part = parts[r];
      std::copy_n(theirs, part.size(), part.begin());
    });
    return parts;
  }
  check_length(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}), "MPI_Gatherv");
  const auto kept = std::make_shared<Parts>();
  kept->counts.assign(lengths.begin(), lengths.end());
  kept->offsets.resize(lengths.size());
  std::exclusive_scan(kept->counts.begin(), kept->counts.end(), kept->offsets.begin(), 0);
  if (rank_ == root) kept->all.resize(static_cast<std::size_t>(kept->offsets.back() + kept->counts.back()));
  kept->mine = mine;
  carry_out(kept, "MPI_Igatherv", [&](MPI_Comm comm, MPI_Request* request) {
    return MPI_Igatherv(kept->mine.data(), static_cast<int>(mine.size()), MPI_BYTE, kept->all.data(),
                        kept->counts.data(), kept->offsets.data(), MPI_BYTE, root, comm, request);
  });
  for (std::size_t i = 0; i < parts.size(); ++i)
    std::copy_n(kept->all.begin() + kept->offsets[i], kept->counts[i], parts[i].begin());
  return parts;
}

std::vector<std::int64_t> Comm::gather(const std::vector<std::int64_t>& mine, int root) const {
  const auto n = static_cast<std::int64_t>(mine.size());
  const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(std::int64_t));
  if (!node_collectives_ || bytes > node_collectives_->most_bytes()) {
    const auto both = std::make_shared<Both>(n, rank_ == root ? size_ : 0);
    both->mine = mine;
    carry_out(both, "MPI_Igather", [&](MPI_Comm comm, MPI_Request* request) {
      return MPI_Igather(both->mine.data(), static_cast<int>(n), MPI_INT64_T, both->all.data(),
                         static_cast<int>(n), MPI_INT64_T, root, comm, request);
    });
    return std::move(both->all);
  }
  Numbered<std::int64_t> all(rank_ == root ? n * size_ : 0);
  node_collectives_->collect(reinterpret_cast<const std::byte*>(mine.data()), bytes, root,
                             [&](int r, const std::byte* theirs) {
                               if (bytes > 0)
                                 std::memcpy(all.data() + r * n, theirs, mine.size() * sizeof mine[0]);
                             });
  return all;
}

// Everybody gets all of it.
Bytes Comm::scatter_on_node(const std::vector<Bytes>& parts, int root) const {
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
  const bool one_each = std::cmp_equal(parts.size(), size_);
  std::int64_t total = 0;
  for (const auto& part : parts)
    total += static_cast<std::int64_t>(part.size());
  if (node_collectives_) {
    std::int64_t small = one_each && total <= k_small ? 1 : 0;
    broadcast(reinterpret_cast<std::byte*>(&small), sizeof small, root);
    if (small != 0) return scatter_on_node(parts, root);
  }
  // Each rank hears of the total as well, so that all of them refuse it alike.
  const auto kept = std::make_shared<Parts>();
  if (is_root) kept->lengths.assign(size_, {0, one_each ? total : -1});
  for (std::size_t i = 0; i < kept->lengths.size() && one_each; ++i)
    kept->lengths[i][0] = static_cast<std::int64_t>(parts[i].size());
  carry_out(kept, "MPI_Iscatter", [&](MPI_Comm comm, MPI_Request* request) {
    return MPI_Iscatter(kept->lengths.data(), 2, MPI_INT64_T, kept->length.data(), 2, MPI_INT64_T, root, comm,
                        request);
  });
  if (kept->length[1] < 0) throw Error(Code::internal, "MPI_Scatterv: the root needs one part for each rank");
  check_length(kept->length[1], "MPI_Scatterv");
  if (is_root) {
    for (const auto& part : parts) {
      kept->counts.push_back(static_cast<int>(part.size()));
      kept->offsets.push_back(static_cast<int>(kept->all.size()));
      kept->all.insert(kept->all.end(), part.begin(), part.end());
    }
  }
  const auto count = static_cast<int>(kept->length[0]);
  kept->mine.resize(static_cast<std::size_t>(count));
  carry_out(kept, "MPI_Iscatterv", [&](MPI_Comm comm, MPI_Request* request) {
    return MPI_Iscatterv(kept->all.data(), kept->counts.data(), kept->offsets.data(), MPI_BYTE,
                         kept->mine.data(), count, MPI_BYTE, root, comm, request);
  });
  return std::move(kept->mine);
}

}  // namespace shoal
