// SPDX-License-Identifier: BSD-3-Clause
// The parts of the model, each by itself.
#include <random>
#include <set>

#include "model/faults.hpp"
#include "model/interval_set.hpp"
#include "model/lock_table.hpp"
#include "model/metadata.hpp"
#include "model/striping.hpp"
#include "model/timetable.hpp"
#include "model/transport.hpp"
#include "plain.hpp"

using namespace shoal::lab;

TEST_CASE("timetable: one request after the other, and gaps are used") {
  Timetable table;
  CHECK(table.book(0, 2).end == 2);
  CHECK(table.book(1, 2).end == 4);
  CHECK(table.book(10, 1).begin == 10);
  // Arrives late, and fits before the one at 10.
  CHECK(table.book(5, 1).end == 6);
  // Five seconds free from 4 to 5 and from 6 to 10: takes both and goes on behind 11.
  CHECK(table.book(0, 6).end == 12);
  CHECK(table.book(0, 1).begin == 12);
}

TEST_CASE("timetable: what is blocked is waited for, in the middle of a request too") {
  Timetable table;
  table.block(1, 5);
  CHECK(table.book(0, 2).end == 6);
  CHECK(table.book(0, 0).end == 6);
}

TEST_CASE("timetable: no time is lost, whatever the order of arrival") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> arrival(0, 50);
  Timetable table;
  double last = 0;
  for (int i = 0; i < 200; ++i)
    last = std::max(last, table.book(arrival(random), 1).end);
  // All have come at 50, and there is work for 200 seconds.
  CHECK(last >= 200);
  CHECK(last < 202);
}

TEST_CASE("timetable: a long history is forgotten as busy") {
  Timetable table;
  for (int i = 0; i < 1000; ++i)
    table.book(2 * i, 1);
  CHECK(table.book(0, 0.5).begin > 1000);
}

TEST_CASE("interval set: as a set of bytes") {
  std::mt19937 random(11);
  std::uniform_int_distribution<int> byte(0, 60);
  IntervalSet set;
  std::set<int> bytes;
  for (int i = 0; i < 3000; ++i) {
    const int a = byte(random), b = byte(random);
    const Extent extent{std::min(a, b), std::max(a, b)};
    const bool adds = i % 2 == 0;
    adds ? set.add(extent) : set.remove(extent);
    for (auto at = extent.begin; at < extent.end; ++at)
      adds ? void(bytes.insert(static_cast<int>(at))) : void(bytes.erase(static_cast<int>(at)));
    REQUIRE(set.bytes() == static_cast<std::int64_t>(bytes.size()));
    const int c = byte(random), d = byte(random);
    const Extent asked{std::min(c, d), std::max(c, d)};
    std::int64_t inside = 0;
    for (auto at = asked.begin; at < asked.end; ++at)
      inside += bytes.count(static_cast<int>(at)) > 0 ? 1 : 0;
    std::int64_t parts = 0, gaps = 0;
    for (const Extent& part : set.parts(asked))
      parts += part.bytes();
    for (const Extent& gap : set.gaps(asked))
      gaps += gap.bytes();
    REQUIRE(parts == inside);
    REQUIRE(gaps == asked.bytes() - inside);
    REQUIRE(set.covers(asked) == (inside == asked.bytes()));
    REQUIRE(set.meets(asked) == (inside > 0));
  }
  set.clear();
  set.add({10, 20});
  set.add({30, 40});
  CHECK(set.last_end(25) == 20);
  CHECK(set.last_end(20) == 20);
  CHECK(!set.last_end(19));
  CHECK(set.next_begin(20) == 30);
  CHECK(!set.next_begin(31));
  CHECK(set.touched({19, 31}) == std::vector<Extent>{{10, 20}, {30, 40}});
}

TEST_CASE("striping: each byte of a file lies once, where the inverse finds it") {
  for (const int count : {1, 3, 4}) {
    const Layout layout{8, count, 2};
    for (const Extent extent : {Extent{0, 100}, Extent{5, 6}, Extent{7, 9}, Extent{13, 47}, Extent{16, 24}}) {
      std::set<std::int64_t> found;
      std::set<int> objects;
      for (const Layout::Part& part : layout.parts(extent)) {
        CHECK(objects.insert(part.object).second);
        for (auto at = part.extent.begin; at < part.extent.end; ++at)
          CHECK(found.insert(layout.file_offset(part.object, at)).second);
      }
      CHECK(static_cast<std::int64_t>(found.size()) == extent.bytes());
      CHECK(*found.begin() == extent.begin);
      CHECK(*found.rbegin() == extent.end - 1);
    }
  }
  CHECK(Layout{8, 4, 2}.parts({3, 3}).empty());
  CHECK(Layout{8, 4, 2}.server(3, 4) == 1);
}

TEST_CASE("locks: the first client gets all, the second what it asked for and the rest behind it") {
  using Mode = LockTable::Mode;
  LockParameters parameters;
  LockTable table;
  CHECK(table.acquire(0, {0, 10}, Mode::write, parameters).revocations.empty());
  CHECK(table.holds(0, {1000, 2000}, Mode::write));
  CHECK(table.acquire(0, {500, 600}, Mode::write, parameters).held);

  SUBCASE("all of a lock is lost") {
    const auto grant = table.acquire(1, {100, 110}, Mode::write, parameters);
    REQUIRE(grant.revocations.size() == 1);
    CHECK(grant.revocations[0].holder == 0);
    CHECK(!table.holds(0, {0, 10}, Mode::write));
    CHECK(table.holds(1, {100, 1000}, Mode::write));
    CHECK(!table.holds(1, {99, 100}, Mode::write));
    // It is told apart from then on: each goes on in its own part.
    CHECK(table.acquire(0, {10, 20}, Mode::write, parameters).revocations.empty());
    CHECK(table.holds(0, {20, 100}, Mode::write));
    CHECK(table.acquire(1, {110, 120}, Mode::write, parameters).held);
  }
  SUBCASE("what is lost lies on the other one's side of the holder's place") {
    parameters.revoke_whole = false;
    const auto grant = table.acquire(1, {100, 110}, Mode::write, parameters);
    REQUIRE(grant.revocations.size() == 1);
    CHECK(grant.revocations[0].lost == std::vector<Extent>{{0, 110}});
    CHECK(table.holds(0, {110, 1000}, Mode::write));
    CHECK(table.holds(1, {0, 110}, Mode::write));
    CHECK(!table.holds(1, {110, 111}, Mode::write));
    CHECK(table.acquire(2, {50, 60}, Mode::write, parameters).revocations.size() == 1);
    CHECK(table.holds(1, {60, 110}, Mode::write));
  }
  SUBCASE("readers do not exclude each other, a writer excludes all") {
    CHECK(table.acquire(1, {0, 10}, Mode::read, parameters).revocations.size() == 1);
    CHECK(table.acquire(2, {0, 10}, Mode::read, parameters).revocations.empty());
    CHECK(table.acquire(0, {5, 6}, Mode::write, parameters).revocations.size() == 2);
  }
}

TEST_CASE("locks: without growth a client has what it asked for") {
  LockParameters parameters;
  parameters.grow = false;
  LockTable table;
  table.acquire(0, {0, 10}, LockTable::Mode::write, parameters);
  CHECK(!table.holds(0, {10, 11}, LockTable::Mode::write));
  CHECK(table.acquire(1, {10, 20}, LockTable::Mode::write, parameters).revocations.empty());
}

TEST_CASE("metadata: a million creates take a million times one create") {
  MetadataParameters parameters;
  parameters.create = 1e-4;
  parameters.latency = 1e-3;
  Metadata metadata(parameters, 5e-6);
  Seconds last = 0;
  for (int i = 0; i < 1000000; ++i)
    last = metadata.serve(Operation::create, 1, 1, 0);
  validate({"Metadata", "a million creates", "10^6 x (create + stripe) + latency + 2 ways", 100 + 1e-3 + 1e-5,
            last});
}

TEST_CASE("metadata: two servers serve two folders at once") {
  MetadataParameters parameters;
  parameters.servers = 2;
  parameters.create = 1e-3;
  parameters.create_stripe = 1e-4;
  Metadata metadata(parameters, 0);
  Seconds last = 0;
  for (int i = 0; i < 1000; ++i)
    last = std::max(last, metadata.serve(Operation::create, static_cast<FileId>(i % 2), 5, 0));
  validate({"Metadata", "1,000 creates with 5 stripes in two folders, two servers",
            "500 x (create + 5 stripes)", 500 * 1.5e-3, last});
}

TEST_CASE("network: a client's link, and what all share") {
  NetworkParameters parameters;
  parameters.client_bandwidth = 1e9;
  parameters.total_bandwidth = 2.5e9;
  parameters.latency = 1e-3;
  Network network(parameters, 4);
  CHECK(network.carry(0, Direction::write, 1'000'000'000, 0) == approx(1.001));
  // The other way is free.
  CHECK(network.carry(0, Direction::read, 1'000'000'000, 0) == approx(1.001));
  Network shared(parameters, 4);
  Seconds last = 0;
  for (int i = 0; i < 1000; ++i)
    for (ClientId client = 0; client < 4; ++client)
      last = std::max(last, shared.carry(client, Direction::write, 1'000'000, 0));
  validate({"Network", "4 clients, each 1 GB, 2.5 GB/s in all", "bytes / bandwidth of all + way",
            4e9 / 2.5e9 + 1e-3, last});
}

TEST_CASE("server: slow, loaded, seeking") {
  ServerParameters parameters;
  parameters.write_bandwidth = 100;
  parameters.read_bandwidth = 200;
  parameters.write_latency = 0.5;
  parameters.seek = 2;
  parameters.load = 0.5;
  parameters.slow = {{1, 0.25}};
  Server usual(parameters, 0), slow(parameters, 1);
  validate({"Server", "a write of 100 bytes that seeks, half of the server for others",
            "latency + seek + bytes / (bandwidth / 2)", 0.5 + 2 + 2,
            usual.serve(Direction::write, {1, 0}, {0, 100}, 0)});
  CHECK(usual.serve(Direction::write, {1, 0}, {100, 200}, 10) == approx(10 + 0.5 + 2));
  CHECK(usual.serve(Direction::read, {1, 0}, {0, 100}, 20) == approx(20 + 2 + 1));
  validate({"Server", "the same on a server of a quarter of the bandwidth",
            "latency + seek + bytes / (bandwidth / 8)", 0.5 + 2 + 8,
            slow.serve(Direction::write, {1, 0}, {0, 100}, 0)});
}

TEST_CASE("faults: counted for each, and over after so many") {
  FaultParameters parameters;
  parameters.errors = {{Operation::write, 1, 3, 2, EIO}, {Operation::read, -1, 2, 0, ESTALE}};
  parameters.stalls = {{0, 7.0, 2, 0}, {-1, 5.0, 2, 0, 3}};
  Faults faults(parameters);
  std::vector<int> seen;
  for (int i = 0; i < 6; ++i) {
    CHECK(faults.request(Operation::write, 0) == 0);
    seen.push_back(faults.request(Operation::write, 1));
  }
  CHECK(seen == std::vector<int>{0, 0, EIO, EIO, 0, 0});
  CHECK(faults.request(Operation::read, 0) == 0);
  CHECK(faults.request(Operation::read, 5) == ESTALE);
  CHECK(faults.request(Operation::read, 5) == ESTALE);
  CHECK(faults.stall(1, 0) == 0);
  CHECK(faults.stall(0, 1) == 0);
  CHECK(faults.stall(0, 3) == 7);
  CHECK(faults.stall(0, -1) == 0);
  CHECK(faults.stall(2, 3) == 5);
  CHECK(faults.stall(2, 3) == 0);
}
