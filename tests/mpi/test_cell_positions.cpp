// SPDX-License-Identifier: BSD-3-Clause
// Lists of cells kept in parts by all ranks, against a plain reference.
#include "decomp/cell_positions.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "support/random_maps.hpp"

using namespace shoal;
using testing::random_maps;

namespace {

using Cells = std::vector<std::int64_t>;

Cells found_in(const std::map<std::int64_t, std::int64_t>& places, const Cells& wanted) {
  Cells found;
  for (const auto cell : wanted) {
    const auto at = places.find(cell);
    found.push_back(at == places.end() ? k_hole : at->second);
  }
  return found;
}

/// What ranks may ask for: known and unknown cells, holes, cells outside, doubles, nothing at all.
Cells questions(std::int64_t cells, int rank, std::mt19937 random) {
  Cells wanted;
  random.discard(static_cast<unsigned>(rank) * 17);
  if (rank % 3 == 2) return wanted;
  for (int i = 0; i < 200; ++i) {
    const auto cell = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cells + 4)) - 2;
    for (std::int64_t next = 0; next < 1 + static_cast<std::int64_t>(random() % 5); ++next)
      wanted.push_back(cell + next);
  }
  return wanted;
}

/// The code and message that all ranks get.
Status refused(const Comm& comm, const std::function<void()>& make) {
  const Status status = caught(make);
  CHECK_FALSE(status.ok());
  const auto hash = static_cast<std::int64_t>(std::hash<std::string>{}(status.text()) >> 1);
  CHECK(comm.max(hash) == comm.min(hash));
  return status;
}

bool says(const Status& status, const std::string& words) {
  return status.text().find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("cells that ranks own are numbered in order of cell, and found again") {
  const Comm comm(MPI_COMM_WORLD);
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::int64_t cells = 1 + static_cast<std::int64_t>(random() % (seed % 4 == 0 ? 5 : 700));
    const auto lists = random_maps(
        cells, comm.size(),
        {static_cast<int>(random() % 3) * 40, 20, 1 + static_cast<int>(random() % 9), false}, random);
    Cells all;
    for (const auto& list : lists)
      all.insert(all.end(), list.begin(), list.end());
    std::erase(all, k_hole);
    std::sort(all.begin(), all.end());
    std::map<std::int64_t, std::int64_t> places;
    for (std::size_t i = 0; i < all.size(); ++i)
      places.emplace(all[i], static_cast<std::int64_t>(i));

    const auto list = CellPositions::numbered(comm, cells, lists[static_cast<std::size_t>(comm.rank())]);
    CHECK(list.size() == static_cast<std::int64_t>(all.size()));
    const Cells own = list.own_part();
    const auto n = static_cast<std::int64_t>(own.size());
    CHECK(comm.sum(n) == list.size());
    for (std::size_t i = 0; i < own.size(); ++i)
      CHECK(own[i] == all[static_cast<std::size_t>(list.own_first()) + i]);
    const Cells wanted = questions(cells, comm.rank(), random);
    CHECK(list.find(comm, wanted) == found_in(places, wanted));
  }
}

TEST_CASE("lists in any order, cut over ranks anyhow, say where a cell is") {
  const Comm comm(MPI_COMM_WORLD);
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::int64_t cells = 1 + static_cast<std::int64_t>(random() % 700);
    Cells all;
    for (std::int64_t cell = 0; cell < cells; ++cell)
      if (random() % 3 != 0) all.push_back(cell);
    if (seed % 3 == 1) std::shuffle(all.begin(), all.end(), random);
    if (seed % 3 == 2) std::reverse(all.begin(), all.end());
    std::map<std::int64_t, std::int64_t> places;
    for (std::size_t i = 0; i < all.size(); ++i)
      places.emplace(all[i], static_cast<std::int64_t>(i));
    // Uneven shares; some ranks have none.
    Cells borders{0, static_cast<std::int64_t>(all.size())};
    for (int r = 1; r < comm.size(); ++r)
      borders.push_back(static_cast<std::int64_t>(random() % (all.size() + 1)));
    std::sort(borders.begin(), borders.end());
    const auto first = borders[static_cast<std::size_t>(comm.rank())];
    const auto end = borders[static_cast<std::size_t>(comm.rank()) + 1];
    const auto list =
        CellPositions::of_list(comm, cells, first, Cells(all.begin() + first, all.begin() + end));
    CHECK(list.size() == static_cast<std::int64_t>(all.size()));
    const Cells wanted = questions(cells, comm.rank(), random);
    CHECK(list.find(comm, wanted) == found_in(places, wanted));
  }
}

TEST_CASE("positions of cells beyond 32 bits, and where nobody has any") {
  const Comm comm(MPI_COMM_WORLD);
  const std::int64_t cells = (std::int64_t{1} << 40) + 3;
  const std::int64_t far = cells - 1 - comm.rank();
  const auto list = CellPositions::numbered(comm, cells, Cells{far, comm.rank()});
  CHECK(list.size() == 2 * comm.size());
  CHECK(list.find(comm, Cells{far, comm.rank(), cells, cells / 2}) ==
        Cells{2 * comm.size() - 1 - comm.rank(), comm.rank(), k_hole, k_hole});
  const auto part = CellPositions::of_list(comm, cells, 2 * comm.rank(), Cells{far, comm.rank()});
  CHECK(part.find(comm, Cells{comm.rank(), far}) == Cells{2 * comm.rank() + 1, 2 * comm.rank()});
  for (const std::int64_t n : {std::int64_t{0}, cells}) {
    const auto none = CellPositions::numbered(comm, n, {});
    CHECK(none.size() == 0);
    CHECK(none.own_part().empty());
    CHECK(none.find(comm, Cells{0}) == Cells{k_hole});
  }
}

TEST_CASE("lists with a cell twice or outside are refused on all ranks alike") {
  const Comm comm(MPI_COMM_WORLD);
  const bool last = comm.rank() == comm.size() - 1;
  const std::int64_t n = comm.size();
  Cells own{10 * comm.rank(), 10 * comm.rank() + 1};
  if (last) own.push_back(1);
  Status status = refused(comm, [&] { CellPositions::numbered(comm, 10 * n, own); });
  CHECK(status.code == Code::overlap);
  CHECK_MESSAGE(says(status, "cell 1 (from 0)"), status.text());
  // Positions 0, 1, 10, 11, ... and the double at the end.
  status = refused(comm, [&] { CellPositions::of_list(comm, 10 * n, 10 * comm.rank(), own); });
  CHECK(status.code == Code::format);
  CHECK_MESSAGE(says(status, "positions 1 and " + std::to_string(10 * (n - 1) + 2)), status.text());
  for (const std::int64_t outside : {10 * n, std::int64_t{-1}}) {
    own.back() = last ? outside : own.back();
    status = refused(comm, [&] { CellPositions::of_list(comm, 10 * n, 10 * comm.rank(), own); });
    CHECK(status.code == Code::format);
    CHECK(status.rank == comm.size() - 1);
    CHECK_MESSAGE(says(status, std::to_string(outside) + " at position " + std::to_string(10 * (n - 1) + 2)),
                  status.text());
  }
}
