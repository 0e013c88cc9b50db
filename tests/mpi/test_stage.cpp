// The stage's buffers: which memory slot generations get, and what happens when there is no more of it.
#include <doctest/doctest.h>
#include <mpi.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <set>
#include <thread>
#include <vector>

#include "comm/nodes.hpp"
#include "driver/native/stage/stage.hpp"

using namespace shoal;

namespace {

constexpr std::int64_t k_slot = 64 * 1024;

/// The same on all ranks, or the test fails.
std::int64_t agreed(const Comm& comm, std::int64_t mine) {
  CHECK(comm.max(mine) == -comm.max(-mine));
  return mine;
}

std::int64_t place_of(const Comm& comm, const Stage& stage, std::uint64_t generation,
                      const std::byte* origin) {
  return agreed(comm, (stage.data(generation) - origin) / k_slot);
}

/// Ranks that open a slot generation at the same time take a buffer each, and all but one give theirs back:
/// for a moment there are fewer. One after the other it is known which one it gets. Collective.
bool open_in_turn(const Comm& comm, Stage& stage, std::uint64_t generation) {
  comm.barrier();
  const bool first = comm.rank() == 0 && stage.open(generation);
  comm.barrier();
  const bool is_open = comm.rank() == 0 ? first : stage.open(generation);
  comm.barrier();
  return is_open;
}

void store(const Comm& comm, Stage& stage, std::uint64_t generation) {
  comm.barrier();
  if (comm.rank() == comm.size() - 1) {
    REQUIRE(stage.all_arrived(generation));
    REQUIRE(stage.claim(generation, 1, {}));
    if (stage.finish(generation, 1, false)) stage.release(generation);
  }
  comm.barrier();
}

}  // namespace

TEST_CASE("the stage: memory that was used last is used again, and more when slot generations pile up") {
  const Comm world(MPI_COMM_WORLD);
  const Nodes nodes(world, 0);
  const Comm& comm = nodes.node();
  Stage stage(comm, 16, k_slot, 1, 60);
  const std::byte* origin = nullptr;
  for (int i = 0; i < 40; ++i) {  // twice round and a half
    const std::uint64_t generation = stage.take_generation();
    REQUIRE(open_in_turn(comm, stage, generation));
    REQUIRE(stage.open(generation));
    if (i == 0) origin = stage.data(generation);
    CHECK(place_of(comm, stage, generation, origin) == 0);
    stage.arrive(generation, 7);
    store(comm, stage, generation);
    CHECK(stage.is_over(generation));
  }
  std::vector<std::uint64_t> waiting;
  std::set<std::int64_t> places;
  for (int i = 0; i < 16; ++i) {
    waiting.push_back(stage.take_generation());
    REQUIRE(open_in_turn(comm, stage, waiting.back()));
    stage.data(waiting.back())[k_slot - 1] = std::byte{1};
    stage.addresses(waiting.back())[Stage::k_addresses - 1] = {1, waiting.back()};
    places.insert(place_of(comm, stage, waiting.back(), origin));
    stage.arrive(waiting.back(), 7);
  }
  CHECK(places.size() == 16);
  CHECK_FALSE(open_in_turn(comm, stage, stage.next_generation()));
  comm.barrier();
  for (const auto generation : waiting)
    CHECK(stage.addresses(generation)[Stage::k_addresses - 1] == Location{1, generation});
  const std::int64_t third = place_of(comm, stage, waiting[3], origin);
  for (const int i : {9, 3, 0})
    store(comm, stage, waiting[static_cast<std::size_t>(i)]);
  // The slot of the first is free, and so are three buffers.
  const std::uint64_t next = stage.take_generation();
  REQUIRE(open_in_turn(comm, stage, next));
  CHECK(place_of(comm, stage, next, origin) == 0);
  CHECK_FALSE(open_in_turn(comm, stage, next + 1));  // whose slot waiting[1] has
  store(comm, stage, waiting[1]);
  REQUIRE(open_in_turn(comm, stage, next + 1));
  CHECK(place_of(comm, stage, next + 1, origin) < third);
  comm.barrier();
}

TEST_CASE("the stage: threads store in a lull, or when little room is left") {
  const Comm world(MPI_COMM_WORLD);
  const Nodes nodes(world, 0);
  const Comm& comm = nodes.node();
  Stage stage(comm, 8, k_slot, 1, 60);
  bool waited = false;  // on a busy machine a moment may be over before this rank looks
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t generation = stage.take_generation();
    REQUIRE(open_in_turn(comm, stage, generation));
    stage.arrive(generation, 7);
    waited = waited || !stage.is_time_to_store();
    store(comm, stage, generation);
  }
  CHECK(waited);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(stage.is_time_to_store());
  comm.barrier();
  for (int i = 0; i < 6; ++i) {
    const std::uint64_t generation = stage.take_generation();
    REQUIRE(open_in_turn(comm, stage, generation));
    stage.arrive(generation, 7);
  }
  comm.barrier();
  CHECK(stage.is_time_to_store());
  comm.barrier();
}

TEST_CASE("the stage: where memory ends, slot generations wait for what there is") {
  const Comm world(MPI_COMM_WORLD);
  const Nodes nodes(world, 0);
  const Comm& comm = nodes.node();
  if (comm.size() == 1) return;  // has memory of its own
  SharedWindow::drop_kept();     // whose memory is there
  comm.barrier();
  Stage stage(comm, 16, k_slot, 1, 60);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit whole{};
  getrlimit(RLIMIT_FSIZE, &whole);
  rlimit small = whole;
  constexpr std::int64_t k_block = Stage::k_mapped_together;
  const std::int64_t place =
      (k_slot + static_cast<std::int64_t>(sizeof(Location)) * Stage::k_addresses + k_block - 1) / k_block *
      k_block;
  small.rlim_cur = static_cast<rlim_t>(stage.window_bytes() - 10 * place);  // a stand-in for a full /dev/shm
  setrlimit(RLIMIT_FSIZE, &small);
  CHECK(stage.usable_bytes() == 16 * k_slot);
  for (std::uint64_t generation = 0; generation < 6; ++generation) {
    REQUIRE(open_in_turn(comm, stage, stage.take_generation()));
    stage.arrive(generation, 7);
  }
  CHECK_FALSE(open_in_turn(comm, stage, stage.take_generation()));
  CHECK(stage.is_free(6));  // the slot is, its cells would have no buffer
  CHECK(stage.usable_bytes() == 6 * k_slot);
  const std::byte* before = stage.data(3);
  store(comm, stage, 3);
  CHECK(open_in_turn(comm, stage, 6));
  CHECK(stage.data(6) == before);
  comm.barrier();
  setrlimit(RLIMIT_FSIZE, &whole);
  std::signal(SIGXFSZ, SIG_DFL);
}
