// Agreement, nodes, shared memory, decompositions: what the ranks do before any file is open.
#include <doctest/doctest.h>

#include "comm/nodes.hpp"
#include "comm/shared_window.hpp"
#include "decomp/node_share.hpp"
#include "random_tiles.hpp"

using namespace shoal;

TEST_CASE("all ranks learn of the failure of the lowest one") {
  const Comm comm(MPI_COMM_WORLD);
  CHECK(comm.agree({}).ok());
  Status mine;
  if (comm.rank() >= comm.size() / 2)
    mine = {Code::no_space, "rank " + std::to_string(comm.rank()), -1, "f.nc", "temp"};
  const Status agreed = comm.agree(mine);
  CHECK(agreed.code == Code::no_space);
  CHECK(agreed.rank == comm.size() / 2);
  CHECK(agreed.message == "rank " + std::to_string(comm.size() / 2));
  CHECK(agreed.file == "f.nc");
  CHECK(agreed.variable == "temp");
}

TEST_CASE("bytes of any length travel") {
  const Comm comm(MPI_COMM_WORLD);
  const Bytes mine(static_cast<std::size_t>(comm.rank()) * 3, static_cast<std::byte>(comm.rank()));
  const auto all = comm.all_gather(mine);
  REQUIRE(static_cast<int>(all.size()) == comm.size());
  for (int r = 0; r < comm.size(); ++r)
    CHECK(all[static_cast<std::size_t>(r)] ==
          Bytes(static_cast<std::size_t>(r) * 3, static_cast<std::byte>(r)));
  const Bytes part = comm.scatter(comm.rank() == 0 ? all : std::vector<Bytes>{}, 0);
  CHECK(part == mine);
}

TEST_CASE("what cannot be scattered is refused by all ranks") {
  const Comm comm(MPI_COMM_WORLD);
  const std::vector<Bytes> too_many(static_cast<std::size_t>(comm.size()) + 1, Bytes(1));
  Code code = Code::ok;
  try {
    comm.scatter(comm.rank() == 0 ? too_many : std::vector<Bytes>{}, 0);
  } catch (const Error& error) {
    code = error.code();
  }
  CHECK(code == Code::internal);
  CHECK(comm.sum(1) == comm.size());
}

TEST_CASE("every n ranks make a node, and share memory") {
  const Comm comm(MPI_COMM_WORLD);
  const Nodes machines(comm, 0);  // one, but where the tests run on several
  const int ranks_here = machines.node().size();
  for (const int n : {0, 1, 2, 3}) {
    const Nodes nodes(comm, n);
    if (n > 0) {
      const std::int64_t here = machines.node().rank() == 0 ? (ranks_here + n - 1) / n : 0;
      CHECK(nodes.count() == comm.sum(here));
      CHECK(nodes.node().size() == std::min(n, ranks_here - machines.node().rank() / n * n));
      if (machines.single()) CHECK(nodes.index() == comm.rank() / n);
    }
    std::int64_t next = 0;  // numbered in the order of their first ranks
    for (const auto index : comm.all_gather(std::int64_t{nodes.index()})) {
      CHECK(index <= next);
      if (index == next) ++next;
    }
    CHECK(next == nodes.count());
    const SharedWindow window(nodes.node(), 1 << 16);
    auto& word = *reinterpret_cast<SharedWord*>(window.data());
    word.fetch_add(1);
    nodes.node().barrier();
    CHECK(word.load() == static_cast<std::uint32_t>(nodes.node().size()));
  }
}

TEST_CASE("shared memory that cannot be had is an error on all ranks") {
  const Comm comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  CHECK_THROWS_AS(SharedWindow(comm, std::size_t{1} << 45), Error);
}

TEST_CASE("bad tiles are refused on all ranks, with names") {
  const Comm comm(MPI_COMM_WORLD);
  const int last = comm.size() - 1;
  const auto message = [&](const Dims& global, const Box& tile) -> std::string {
    try {
      Decomposition::block(comm, global, tile, {0, 0}, {0, 0});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const Dims global{comm.size(), 10};
  const Box row({comm.rank(), 0}, {1, 10});
  CHECK(message(global, row).empty());
  const std::string outside = message(global, comm.rank() == last ? Box({comm.rank(), 5}, {1, 6}) : row);
  CHECK(outside.find("rank " + std::to_string(last)) != std::string::npos);
  CHECK(outside.find("5:11") != std::string::npos);
  if (comm.size() > 1) {
    const std::string overlap = message(global, comm.rank() == last ? Box({last - 1, 3}, {1, 4}) : row);
    CHECK(overlap.find("ranks " + std::to_string(last - 1) + " and " + std::to_string(last)) !=
          std::string::npos);
    CHECK(overlap.find("[" + std::to_string(last - 1) + ":" + std::to_string(last) + ", 3:7)") !=
          std::string::npos);
    CHECK(message(comm.rank() == 0 ? Dims{99, 10} : global, row).find("99x10") != std::string::npos);
  }
}

TEST_CASE("the nodes' shares together hold every cell once") {
  const Comm comm(MPI_COMM_WORLD);
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    const Dims shape{5, 9, 8};
    const auto tiles = testing::random_tiles(shape, comm.size(), round % 2 == 0, random);
    const auto decomposition = testing::block_of(comm, shape, tiles, 2);
    const Nodes nodes(comm, round % 4);
    const NodeShare share = share_of_node(comm, nodes, *decomposition);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(volume(shape)));
    if (nodes.node().rank() == 0)
      for (const auto& box : share.store)
        for (std::int64_t i = 0; i < box.cells(); ++i) {
          Dims index = unravel(i, box.count);
          for (int d = 0; d < 3; ++d)
            index[d] += box.first[d];
          ++counts[static_cast<std::size_t>(position_in(index, Box::whole(shape)))];
        }
    MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    CHECK(std::all_of(counts.begin(), counts.end(), [](std::int64_t count) { return count == 1; }));
    if (nodes.single()) CHECK(share.store.size() == 1);
    const Box mine = intersection(decomposition->tile_with_halo(), Box::whole(shape));
    if (!mine.empty())
      CHECK(std::any_of(share.fetch.begin(), share.fetch.end(),
                        [&](const Box& box) { return box.contains(mine); }));
  }
}

TEST_CASE("a rank that left out a call finds the others in it, and they know; others than those are apart") {
  const Comm comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const bool late = comm.rank() == comm.size() - 1;
  Deed deed{late ? "commits" : "writes"};
  if (late) deed.missed = "writes";
  const Met first = comm.meet(deed);
  CHECK(first.failed);
  CHECK(!first.same);
  CHECK(first.others == late);
  deed.does = "commits";
  const Met second = comm.meet(deed);
  CHECK(second.same);
  CHECK(!second.failed);
  CHECK(!second.others);
  CHECK(!comm.apart());
  if (late) deed.missed = "reads";
  deed.does = late ? "commits" : "writes";
  CHECK_THROWS_AS(comm.meet(deed), Error);
  CHECK(comm.apart());
}
