// Agreement, nodes, shared memory, decompositions: what the ranks do before any file is open.
#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "comm/nodes.hpp"
#include "comm/progress_board.hpp"
#include "comm/shared_window.hpp"
#include "comm/wait_state.hpp"
#include "decomp/node_share.hpp"
#include "support/random_tiles.hpp"

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

namespace {
// Of rank r, as many as it should have, none of them like the neighbour's.
Bytes some_bytes(int rank, std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<std::byte>(7 * rank + static_cast<int>(i % 251));
  return bytes;
}
}  // namespace

TEST_CASE("ranks learn the same of each other in shared memory and by messages") {
  for (const CollectiveMethod method : {CollectiveMethod::anyhow, CollectiveMethod::by_messages}) {
    const Comm comm(MPI_COMM_WORLD, method);
    const int n = comm.size(), me = comm.rank(), last = n - 1;
    for (int turn = 0; turn < 5; ++turn) {
      CHECK(comm.sum(me + turn) == n * (n - 1) / 2 + n * turn);
      CHECK(comm.max(std::int64_t{me} - turn) == last - turn);
      CHECK(comm.min(std::int64_t{-me}) == -last);
      CHECK(comm.max(0.5 * me) == 0.5 * last);
      const auto numbers = comm.all_gather(std::int64_t{me} * me);
      for (int r = 0; r < n; ++r)
        CHECK(numbers[static_cast<std::size_t>(r)] == r * r);
      comm.barrier();
    }
    // More than fits into the room at once.
    for (const std::size_t many : {0, 1, 5000, 100000}) {
      std::vector<std::int64_t> mine(many);
      for (std::size_t i = 0; i < many; ++i)
        mine[i] = static_cast<std::int64_t>(i % 7) == me ? 1000 + me : me;
      const auto most = comm.max(mine);
      bool right = most.size() == many;
      for (std::size_t i = 0; i < many; ++i)
        right =
            right && most[i] == (static_cast<int>(i % 7) < n
                                     ? std::max<std::int64_t>(1000 + static_cast<std::int64_t>(i % 7), last)
                                     : last);
      CHECK(right);
      const auto gathered = comm.gather(mine, last);
      CHECK(gathered.size() == (me == last ? many * static_cast<std::size_t>(n) : 0));
      if (me == last && many > 0)
        CHECK(gathered[many * static_cast<std::size_t>(last)] == (last == 0 ? 1000 : last));
      for (const int root : {0, last}) {
        Bytes bytes = me == root ? some_bytes(root, many * 8) : Bytes{};
        comm.broadcast(bytes, root);
        CHECK(bytes == some_bytes(root, many * 8));
        const auto all = comm.gather(some_bytes(me, many * static_cast<std::size_t>(me)), root);
        CHECK(all.size() == (me == root ? static_cast<std::size_t>(n) : 0));
        for (int r = 0; r < static_cast<int>(all.size()); ++r)
          CHECK(all[static_cast<std::size_t>(r)] == some_bytes(r, many * static_cast<std::size_t>(r)));
        CHECK(comm.scatter(all, root) == some_bytes(me, many * static_cast<std::size_t>(me)));
        const Bytes from_root = comm.from_root([&] { return some_bytes(root, many); }, root);
        CHECK(from_root == some_bytes(root, many));
      }
      std::vector<Bytes> parts;
      for (int r = 0; r < n; ++r)
        parts.push_back(some_bytes(me + r, many * static_cast<std::size_t>(r)));
      const auto got = comm.exchange(parts);
      for (int r = 0; r < n; ++r)
        CHECK(got[static_cast<std::size_t>(r)] == some_bytes(r + me, many * static_cast<std::size_t>(me)));
    }
    CHECK_THROWS_AS(comm.on_root([] { throw Error(Code::no_space, "full"); }, last), Error);
    CHECK(comm.count_naming(me == 0 ? std::vector<int>{0, last} : std::vector<int>{last}) == (n == 1       ? 1
                                                                                              : me == last ? n
                                                                                              : me == 0    ? 1
                                                                                                        : 0));
    CHECK(comm.all_arrive(10));
  }
}

TEST_CASE("communicators do not get mixed up") {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  std::vector<Comm> all;
  for (int i = 0; i < 3; ++i)
    all.emplace_back(own);
  const Comm half = all[0].split(all[0].rank() % 2);
  MPI_Comm_free(&own);  // what was made of it lives on
  for (int turn = 0; turn < 20; ++turn) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::int64_t number = turn * 10 + static_cast<std::int64_t>(i);
      CHECK(all[i].max(number) == number);
    }
    CHECK(half.min(std::int64_t{half.rank()}) == 0);
    all[static_cast<std::size_t>(turn) % 3] = Comm(all[0].ranks());
  }
  int result = MPI_UNEQUAL;
  MPI_Comm_compare(all[1].ranks(), all[2].handle(), &result);
  CHECK(result == MPI_CONGRUENT);
}

TEST_CASE("parts of parts know their ranks by the numbers that these have on the board") {
  const Comm all(MPI_COMM_WORLD);
  if (!all.wait_state().board) return;  // on several machines each rank is looked for by messages alone
  const auto check = [&](const Comm& part) {
    const auto numbers = part.all_gather(std::int64_t{all.rank()});
    for (int r = 0; r < part.size(); ++r)
      CHECK(part.board_rank(r) == static_cast<int>(numbers[static_cast<std::size_t>(r)]));
  };
  const Comm last_first = all.split(0, -all.rank());
  const Comm half = last_first.split(all.rank() % 2);
  check(last_first);
  check(half);
  check(last_first.split_shared());
  check(half.split_shared());
  check(half.split_shared().split(0, all.rank()));
}

TEST_CASE("a rank that sleeps in a match of calls still answers messages of the model") {
  const Comm comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  // Too long to be sent before the other rank has said where it goes to, which it does in calls of MPI alone.
  std::vector<double> values(1 << 20, comm.rank());
  MPI_Request request = MPI_REQUEST_NULL;
  if (comm.rank() == 1) MPI_Irecv(values.data(), 1 << 20, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);
  if (comm.rank() == 0) MPI_Send(values.data(), 1 << 20, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  comm.barrier();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (comm.rank() == 1) CHECK(values.back() == 0);
}

TEST_CASE("ranks in different calls learn of it") {
  const Comm comm(MPI_COMM_WORLD);
  const Nodes machines(comm, 0);
  if (comm.size() == 1 || !machines.single()) return;
  const auto other_call = [&] {
    if (comm.rank() == 0)
      comm.barrier();
    else
      comm.sum(1);
  };
  CHECK_THROWS_AS(other_call(), Error);
  CHECK_THROWS_AS(comm.barrier(), Error);
}

TEST_CASE(
    "a rank that waits elsewhere for this one is told from one that came meanwhile, and from one that need "
    "wait no more") {
  struct Elsewhere : WaitPoint {
    bool broken = false;
    std::uint64_t done_here() const override { return 4; }
    bool is_broken() const override { return broken; }
    Status break_off(const Status& status) override { return status; }
    WaitState& wait_state() const override { return all; }
    explicit Elsewhere(WaitState& wait_state) : all(wait_state) {}
    WaitState& all;
  };
  constexpr std::int64_t k_elsewhere = 77, k_here = 78;
  const Comm comm(MPI_COMM_WORLD);
  Elsewhere place(comm.wait_state());
  if (comm.size() == 1 || !comm.wait_state().board) return;  // several nodes
  ProgressBoard board(comm);
  const int other = (comm.rank() + 1) % comm.size();
  const bool is_first = comm.rank() == 0;
  board.add(k_elsewhere, place);
  if (!is_first) board.wait_for({k_elsewhere, 5});
  comm.barrier();
  if (is_first) {
    CHECK(board.waits_elsewhere(other, k_here, [] { return true; }) == &place);
    CHECK(board.waits_elsewhere(other, k_elsewhere, [] { return true; }) == nullptr);
    CHECK(board.waits_elsewhere(other, k_here, [] { return false; }) == nullptr);
    place.broken = true;
    CHECK(board.waits_elsewhere(other, k_here, [] { return true; }) == nullptr);
  }
  comm.barrier();
  board.end_wait();
  if (!is_first) board.wait_for({k_elsewhere, 4});
  place.broken = false;
  comm.barrier();
  if (is_first) CHECK(board.waits_elsewhere(other, k_here, [] { return true; }) == nullptr);
  comm.barrier();
}

namespace {
Code code_of(const std::function<void()>& call) {
  return caught(call).code;
}
}  // namespace

TEST_CASE("ranks that give up for different reasons at the same time all get the same") {
  const Comm comm(MPI_COMM_WORLD);
  if (comm.size() == 1 || !comm.wait_state().board) return;  // several nodes
  const Comm part = comm.split(0, -comm.rank());
  comm.barrier();
  const Code mine = comm.rank() == 0 ? Code::timeout : Code::out_of_step;
  const Status given = comm.wait_state().break_off({mine, "", -1, {}, {}});
  for (const auto& call :
       {std::function<void()>([&] { comm.match_calls({"writes"}); }),
        std::function<void()>([&] { comm.barrier(); }), std::function<void()>([&] { part.barrier(); })}) {
    const int code = static_cast<int>(code_of(call));
    CHECK(code == static_cast<int>(given.code));
    int codes[2] = {code, -code};
    MPI_Allreduce(MPI_IN_PLACE, codes, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(codes[0] == -codes[1]);
  }
}

TEST_CASE("a call that is over on one rank is over on all, also where ranks are out of step after it") {
  const Comm comm(MPI_COMM_WORLD), other(MPI_COMM_WORLD);
  if (comm.size() < 3 || !comm.wait_state().board) return;
  const bool late = comm.rank() == comm.size() - 1;
  // The others have long found out that rank 1 waits elsewhere.
  if (late) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  std::int64_t number = comm.rank() == 0 ? 7 : 0;
  const auto send = [&] { comm.broadcast(reinterpret_cast<std::byte*>(&number), sizeof number, 0); };
  CHECK(code_of(send) == Code::ok);
  CHECK(number == 7);
  CHECK(code_of([&] { (comm.rank() == 1 ? other : comm).barrier(); }) == Code::out_of_step);
}

TEST_CASE("who is in a call that makes another one is seen in the outer one again when that is over") {
  const Comm comm(MPI_COMM_WORLD, CollectiveMethod::anyhow, {0, "save", "map.nc"});
  const auto board = comm.wait_state().board;
  if (!board) return;  // several nodes
  const auto seen = [&](const std::string& expected) {
    comm.barrier();
    for (int r = 0; r < comm.size(); ++r)
      CHECK(board->last_seen(r) == expected);
    comm.barrier();
  };
  {
    const Comm::Calling save(comm, "save", "map.nc");
    const Comm part(MPI_COMM_WORLD);
    seen("in save (map.nc)");
    {
      const Comm file(MPI_COMM_WORLD, CollectiveMethod::anyhow, {0, "create", "map.nc"});
      seen("in create (map.nc)");
      const Comm::Calling create(file, "create", "map.nc");
      seen("in create (map.nc)");
    }
    seen("in save (map.nc)");
    {
      const Comm::Calling write(comm, "write", "map.nc");
      CHECK(comm.wait_state().call == "write (map.nc)");
    }
    CHECK(comm.wait_state().call == "save (map.nc)");
    CHECK(part.wait_state().call == "save (map.nc)");
  }
  seen("after save (map.nc)");
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

TEST_CASE("a window that all ranks of a node kept is had again, and none that a rank did not") {
  const Comm world(MPI_COMM_WORLD);
  const Nodes nodes(world, 0);
  const Comm& comm = nodes.node();
  const std::size_t bytes = 5 * SharedWindow::k_block + 4096;
  const auto take = [&](std::size_t wanted) {
    return SharedWindow::kept_or_new(comm, wanted, wanted, SharedWindow::k_block);
  };
  const auto end_of = [](const SharedWindow& window) -> SharedWord& {
    return *reinterpret_cast<SharedWord*>(window.data() + window.size() - sizeof(SharedWord));
  };
  SharedWindow::drop_kept();
  comm.barrier();
  SharedWindow window = take(bytes);
  window.map(0, bytes);
  end_of(window).fetch_add(7);
  std::memset(window.data(), 0xFF, 16);
  comm.barrier();
  window.keep();
  CHECK(window.data() == nullptr);

  window = take(bytes);
  CHECK(end_of(window).load() == 7 * static_cast<std::uint32_t>(comm.size()));
  CHECK(window.data()[3] == std::byte{0});
  comm.barrier();
  SharedWindow second = take(bytes);  // while the first is in use
  CHECK(end_of(second).load() == 0);
  second.keep();
  SharedWindow other = take(bytes + 4096);
  CHECK(end_of(other).load() == 0);
  other.keep();
  CHECK(end_of(take(bytes)).load() == 0);  // is not kept again

  if (comm.rank() == 0) window.keep();
  second = take(bytes);
  CHECK(end_of(second).load() == (comm.size() == 1 ? 7U : 0U));
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
  CallSignature signature{late ? "commits" : "writes"};
  if (late) signature.skipped_call = "writes";
  const CallMatch first = comm.match_calls(signature);
  CHECK(first.failed);
  CHECK(!first.same);
  CHECK(first.peers_diverged == late);
  signature.does = "commits";
  const CallMatch second = comm.match_calls(signature);
  CHECK(second.same);
  CHECK(!second.failed);
  CHECK(!second.peers_diverged);
  CHECK(!comm.diverged());
  if (late) signature.skipped_call = "reads";
  signature.does = late ? "commits" : "writes";
  CHECK_THROWS_AS(comm.match_calls(signature), Error);
  CHECK(comm.diverged());
}
