// Maps: who owns which global cell, which are owned twice and which by nobody, against one rank's plain
// count.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "comm/comm.hpp"
#include "decomp/decomposition.hpp"
#include "shoal/shoal.h"
#include "support/seeds.hpp"

using namespace shoal;
using testing::Seed;
using testing::seeds;

namespace {

using Cells = std::vector<std::int64_t>;

Cells gathered(const Comm& comm, const Cells& mine) {
  ByteWriter out;
  out.put(mine);
  Cells all;
  for (const auto& bytes : comm.all_gather(out.take())) {
    Cells part;
    ByteReader(bytes).get(part);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Cells unowned_of(const Decomposition& d) {
  Cells cells;
  d.unowned_share().for_each_run(0, std::numeric_limits<std::int64_t>::max(), [&](const IndexMap::Run& run) {
    for (std::int64_t i = 0; i < run.length; ++i)
      cells.push_back(run.global + i);
  });
  return cells;
}

/// Checks what a decomposition says of itself against all ranks' lists.
void check(const Comm& comm, const Dims& global, int whole, const std::vector<Cells>& lists) {
  const auto rank = static_cast<std::size_t>(comm.rank());
  const auto d = Decomposition::map(comm, global, whole, lists[rank]);
  const std::int64_t cells = volume(global) / volume(tail(global, whole));
  REQUIRE(d->map() != nullptr);
  CHECK(d->uncut_dims() == whole);
  CHECK(volume(d->mapped_shape()) == cells);
  CHECK(d->local_shape() == joined({static_cast<std::int64_t>(lists[rank].size())}, tail(global, whole)));
  for (int i = 0; i < global.size(); ++i)
    CHECK(d->is_cut(i) == (i < global.size() - whole));
  CHECK(d->tile().empty() == d->map()->empty());
  if (!d->tile().empty()) CHECK(d->tile() == Box::whole(global));
  CHECK(!d->has_halo());
  CHECK(d->unowned().empty());

  struct Owner {
    std::int64_t cell;
    int rank;
    std::int64_t local;
    bool operator==(const Owner&) const = default;
  };
  std::vector<Owner> owners;
  for (std::size_t r = 0; r < lists.size(); ++r)
    for (std::size_t i = 0; i < lists[r].size(); ++i)
      if (lists[r][i] != k_hole)
        owners.push_back({lists[r][i], static_cast<int>(r), static_cast<std::int64_t>(i)});
  Cells owned;
  for (const Owner& owner : owners)
    owned.push_back(owner.cell);
  std::sort(owned.begin(), owned.end());
  const auto repeated = std::adjacent_find(owned.begin(), owned.end());
  const bool repeats = repeated != owned.end();
  const std::int64_t repeated_cell = repeats ? *repeated : -1;
  owned.erase(std::unique(owned.begin(), owned.end()), owned.end());
  CHECK(d->owned_cells() == static_cast<std::int64_t>(owned.size()) * volume(tail(global, whole)));

  const Cells unowned = gathered(comm, unowned_of(*d));
  Cells expected;
  if (cells < 1000000) {
    Cells all(static_cast<std::size_t>(cells));
    std::iota(all.begin(), all.end(), 0);
    std::set_difference(all.begin(), all.end(), owned.begin(), owned.end(), std::back_inserter(expected));
  }
  CHECK(unowned == expected);
  const std::int64_t even = cells / comm.size() + 1;
  CHECK(d->unowned_share().mapped_cells() <= even);

  REQUIRE(d->repeated().has_value() == repeats);
  CHECK(d->writable().ok() == !repeats);
  if (!repeats) return;
  const RepeatedCell& cell = *d->repeated();
  CHECK(cell.index == repeated_cell);
  const auto is_owner = [&](int r, std::int64_t local) {
    return std::find(owners.begin(), owners.end(), Owner{repeated_cell, r, local}) != owners.end();
  };
  CHECK(is_owner(cell.rank_a, cell.local_a));
  CHECK(is_owner(cell.rank_b, cell.local_b));
  CHECK(std::pair(cell.rank_a, cell.local_a) < std::pair(cell.rank_b, cell.local_b));
  CHECK(comm.max(cell.local_a) == cell.local_a);
  CHECK(comm.max(cell.local_b) == cell.local_b);
}

/// Cells dealt out to ranks, in stretches or one by one; lists in random order with holes.
std::vector<Cells> random_lists(std::int64_t cells, int ranks, bool stretches, bool gaps, bool repeats,
                                std::mt19937& random) {
  std::vector<Cells> lists(static_cast<std::size_t>(ranks));
  std::size_t owner = 0;
  for (std::int64_t i = 0; i < cells; ++i) {
    if (!stretches || random() % 7 == 0) owner = random() % lists.size();
    if (gaps && random() % 4 == 0) continue;
    lists[owner].push_back(i);
    if (repeats && random() % 50 == 0) lists[random() % lists.size()].push_back(i);
    if (random() % 9 == 0) lists[owner].push_back(k_hole);
  }
  for (auto& list : lists)
    if (!stretches) std::shuffle(list.begin(), list.end(), random);
  if (gaps) lists[random() % lists.size()].clear();
  return lists;
}

std::string message_of(const Comm& comm, const Dims& global, int whole, const Cells& cells,
                       const Status& problem = {}) {
  try {
    Decomposition::map(comm, global, whole, cells, problem);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("parts of any length go to any rank") {
  const Comm comm(MPI_COMM_WORLD);
  const auto part = [](int from, int to) {
    const std::size_t length = (from + to) % 3 == 0 ? 0 : static_cast<std::size_t>(from * 100000 + to);
    return Bytes(length, static_cast<std::byte>(16 * from + to));
  };
  for (int round = 0; round < 3; ++round) {
    std::vector<Bytes> parts;
    for (int r = 0; r < comm.size(); ++r)
      parts.push_back(part(comm.rank(), r));
    const auto got = comm.exchange(parts);
    REQUIRE(static_cast<int>(got.size()) == comm.size());
    for (int r = 0; r < comm.size(); ++r)
      CHECK(got[static_cast<std::size_t>(r)] == part(r, comm.rank()));
  }
  const bool last = comm.rank() == comm.size() - 1;
  CHECK_THROWS_AS(comm.exchange(std::vector<Bytes>(static_cast<std::size_t>(comm.size() + (last ? 1 : 0)))),
                  Error);
  CHECK(comm.sum(1) == comm.size());
}

TEST_CASE("random maps: owners, cells of two and of none") {
  const Comm comm(MPI_COMM_WORLD);
  for (const Seed& seed : seeds(21)) {
    CAPTURE(seed);
    std::mt19937 random(seed.value);
    for (const Dims& shape :
         {Dims{1}, Dims{3}, Dims{50}, Dims{7, 9}, Dims{4, 5, 6}, Dims{2000}, Dims{9, 3, 2, 2}})
      for (int whole = 0; whole < shape.size(); ++whole)
        for (int kind = 0; kind < 8; ++kind) {
          CAPTURE(text_of(shape));
          CAPTURE(whole);
          CAPTURE(kind);
          const std::int64_t cells = volume(shape) / volume(tail(shape, whole));
          check(comm, shape, whole,
                random_lists(cells, comm.size(), kind % 2 == 0, kind / 2 % 2 == 0, kind / 4 == 0, random));
        }
  }
}

TEST_CASE("many cells, scattered over all ranks") {
  const Comm comm(MPI_COMM_WORLD);
  for (const Seed& seed : seeds(22)) {
    CAPTURE(seed);
    std::mt19937 random(seed.value);
    check(comm, {300000}, 0, random_lists(300000, comm.size(), false, true, false, random));
    check(comm, {300000, 72}, 1, random_lists(300000, comm.size(), false, false, true, random));
  }
}

TEST_CASE("nobody has a cell, one rank has all, all have all") {
  const Comm comm(MPI_COMM_WORLD);
  std::vector<Cells> lists(static_cast<std::size_t>(comm.size()));
  check(comm, {5, 8}, 0, lists);
  for (auto& list : lists)
    list.assign(3, k_hole);
  check(comm, {5, 8}, 1, lists);
  Cells all(40);
  std::iota(all.begin(), all.end(), 0);
  lists.back() = all;
  check(comm, {5, 8}, 0, lists);
  for (auto& list : lists)
    list = all;
  check(comm, {5, 8}, 0, lists);
}

TEST_CASE("memory of a map is reported with that of the cells nobody owns") {
  const Comm comm(MPI_COMM_WORLD);
  const std::int64_t n = 40000 * comm.size();
  const auto bytes_of = [&](const Cells& cells) {
    shoal_decomposition* map = nullptr;
    REQUIRE(shoal_map(MPI_COMM_WORLD, 1, &n, 0, static_cast<std::int64_t>(cells.size()), cells.data(),
                      &map) == SHOAL_OK);
    shoal_map_info info = SHOAL_MAP_INFO_INIT;
    CHECK(shoal_decomposition_map_info(map, &info) == SHOAL_OK);
    shoal_decomposition_free(&map);
    return comm.sum(info.bytes) / comm.size();
  };
  constexpr std::int64_t k_state = 512;
  Cells all, tenth;
  std::mt19937 random(11);
  for (std::int64_t i = 0; i < n; ++i) {
    if (i % comm.size() == comm.rank()) all.push_back(n - 1 - i);
    const bool owned = random() % 10 == 0;
    if (owned && static_cast<int>(random() % static_cast<unsigned>(comm.size())) == comm.rank())
      tenth.push_back(i);
  }
  CHECK(bytes_of(all) <= 8 * 40000 + k_state);
  // About 4000 cells of each rank, and 3600 runs between them.
  CHECK(bytes_of(tenth) > 8 * 3900 + 12 * 3400);
  CHECK(bytes_of(tenth) < 8 * 4100 + 12 * 3800 + k_state);
}

TEST_CASE("64-bit indices, many more cells than any rank could list") {
  const Comm comm(MPI_COMM_WORLD);
  const std::int64_t far = std::int64_t{1} << 45;
  const int ranks = comm.size();
  Cells mine;
  for (std::int64_t i = 0; i < 100; ++i)  // stretches of three, dealt out over the whole range
    for (std::int64_t k = 0; k < 3; ++k)
      mine.push_back(far / 100 * i + 3 * comm.rank() + k);
  const auto d = Decomposition::map(comm, {far}, 0, mine);
  CHECK(d->writable().ok());
  CHECK(d->owned_cells() == std::int64_t{300} * ranks);
  CHECK(comm.sum(d->unowned_share().mapped_cells()) == far - d->owned_cells());
  CHECK(d->unowned_share().bytes() < 1 << 20);
  CHECK(d->map()->bytes() < 100 * 12 + 100 * 16 + 512);
  if (comm.rank() == ranks - 1) mine.push_back(far / 100 * 60 + 1);  // rank 0's
  const auto twice = Decomposition::map(comm, {far}, 0, mine);
  REQUIRE(twice->repeated());
  CHECK(twice->repeated()->index == far / 100 * 60 + 1);
  CHECK(twice->repeated()->local_a == 181);
  CHECK(twice->repeated()->local_b == 300);
  CHECK(twice->owned_cells() == d->owned_cells());
}

TEST_CASE("who owns a cell that comes twice is reported to all ranks") {
  const Comm comm(MPI_COMM_WORLD);
  const int last = comm.size() - 1;
  Cells mine{2 * comm.rank(), 2 * comm.rank() + 1};
  if (comm.rank() == last) mine.push_back(1);
  const Status status = Decomposition::map(comm, {5, 10}, 0, mine)->writable();
  CHECK(status.code == Code::overlap);
  const std::string who = last == 0 ? "rank 0 owns" : "ranks 0 and " + std::to_string(last) + " both own";
  CHECK(status.message.find(who) != std::string::npos);
  CHECK(status.message.find("index 1 (from 0; that is 0, 1 of 5x10)") != std::string::npos);
  CHECK(status.message.find("local cells 1 and 2;") != std::string::npos);
}

TEST_CASE("bad maps are refused on all ranks, with names") {
  const Comm comm(MPI_COMM_WORLD);
  const int last = comm.size() - 1;
  const bool bad = comm.rank() == last;
  const auto holds = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const std::string rank = "rank " + std::to_string(last);
  const Cells none;
  const std::string outside = message_of(comm, {5, 8}, 1, bad ? Cells{0, 5} : none);
  CHECK(holds(outside, rank));
  CHECK(holds(outside, "local cell 1"));
  CHECK(holds(outside, "0 to 4"));
  CHECK(holds(message_of(comm, {5, 8}, bad ? 2 : 0, none), "0 to 1"));
  CHECK(holds(message_of(comm, {5, 8}, bad ? -1 : 0, none), "leaves -1"));
  CHECK(holds(message_of(comm, bad ? Dims{5, 0} : Dims{5, 8}, 0, none), "5x0"));
  CHECK(holds(message_of(comm, Dims{}, 0, none), "not 0"));
  CHECK(holds(message_of(comm, Dims(16, 1), 0, none), "1 to 15 dimensions, not 16"));
  const std::int64_t long_one = std::int64_t{1} << 32;
  CHECK(holds(message_of(comm, {long_one, long_one}, 0, none), "2^62"));
  if (last > 0) {
    CHECK(holds(message_of(comm, bad ? Dims{5, 9} : Dims{5, 8}, 0, none), "5x9"));
    CHECK(holds(message_of(comm, {5, 8}, bad ? 1 : 0, none), "1 dimensions uncut"));
  }
  const Status problem{Code::type, "no list", -1, {}, {}};
  CHECK(holds(message_of(comm, bad ? Dims{} : Dims{5, 8}, 0, none, bad ? problem : Status{}), "no list"));
  CHECK(message_of(comm, {5, 8}, 0, none).empty());
}
