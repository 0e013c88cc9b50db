// SPDX-License-Identifier: BSD-3-Clause
#include "comm/arrival_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "comm/mpi_calls.hpp"
#include "comm/tags.hpp"

namespace shoal {

namespace {

constexpr Seconds k_quiet_interval = 0.1;  // without news, and the query is over
constexpr Seconds k_longest_query = 1.0;   // with news
constexpr std::size_t k_most_named = 8;
constexpr int k_bits = 64;  // of a word

}  // namespace

ArrivalQuery::ArrivalQuery(MPI_Comm comm, std::uint64_t call) : comm_(comm) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
  known_.resize(1 + static_cast<std::size_t>((size_ + k_bits - 1) / k_bits));
  known_[0] = call;
  known_[1 + static_cast<std::size_t>(rank_ / k_bits)] |= std::uint64_t{1} << (rank_ % k_bits);
}

void ArrivalQuery::progress(bool begin) {
  const bool news = receive();
  const bool begins = !has_begun_ && (begin || news);
  if (!begins && !news) return;
  last_news_ = now();
  if (begins) begin_ = last_news_;
  has_begun_ = true;
  send();
}

bool ArrivalQuery::is_over() const {
  return has_begun_ && (now() - last_news_ > k_quiet_interval || now() - begin_ > k_longest_query);
}

void ArrivalQuery::send() const {
  send_along_powers_of_two(comm_, tags::arrival, std::as_bytes(std::span(known_)));
}

bool ArrivalQuery::receive() {
  bool news = false;
  while (true) {
    int there = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tags::arrival, comm_, &there, &status), "MPI_Iprobe");
    if (there == 0) return news;
    std::vector<std::uint64_t> received(known_.size());
    check_mpi(MPI_Recv(received.data(), static_cast<int>(received.size() * sizeof received[0]), MPI_BYTE,
                       status.MPI_SOURCE, tags::arrival, comm_, MPI_STATUS_IGNORE),
              "MPI_Recv");
    if (received[0] != known_[0]) continue;
    if (!has_begun_) news = true;  // the question itself
    for (std::size_t i = 1; i < known_.size(); ++i) {
      news = news || (received[i] & ~known_[i]) != 0;
      known_[i] |= received[i];
    }
  }
}

std::string ArrivalQuery::missing() const {
  std::vector<int> ranks;
  for (int r = 0; r < size_; ++r)
    if ((known_[1 + static_cast<std::size_t>(r / k_bits)] >> (r % k_bits) & 1) == 0) ranks.push_back(r);
  if (ranks.empty()) return "MPI, although all ranks are in the call";
  MPI_Group here = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  MPI_Comm_group(comm_, &here);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> numbers(ranks.size());
  MPI_Group_translate_ranks(here, static_cast<int>(ranks.size()), ranks.data(), world, numbers.data());
  MPI_Group_free(&here);
  MPI_Group_free(&world);
  const std::size_t named = std::min(k_most_named, numbers.size());
  const std::string list = fmt::format(
      "{}", fmt::join(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  return fmt::format("rank{} {}{} of MPI_COMM_WORLD, which did not come", numbers.size() == 1 ? "" : "s",
                     list, named < numbers.size() ? fmt::format(" and {} more", numbers.size() - named) : "");
}

}  // namespace shoal
