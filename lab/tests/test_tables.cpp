// SPDX-License-Identifier: BSD-3-Clause
// What the daemon keeps, without FUSE.
#include <doctest/doctest.h>

#include <limits>

#include "mount/cut_call.hpp"
#include "mount/file_locks.hpp"
#include "mount/lustre_attribute.hpp"
#include "mount/schedule.hpp"

using namespace shoal::lab;

namespace {

FileLock lock(std::int64_t begin, std::int64_t end, bool writes, ClientId client, std::uint64_t owner,
              std::uint64_t handle = 1) {
  return {{begin, end}, writes, {client, owner}, 0, handle};
}

}  // namespace

TEST_CASE("requests that the kernel cuts from one write end at pages of the file") {
  constexpr std::int64_t k_most = k_largest_request, k_page = k_memory_page;
  const auto parts = [](Extent before, Extent now) { return std::pair(before, now); };
  CutCall call;
  // 2 MiB and 100 bytes, from memory that begins 16 bytes behind a page's begin.
  CHECK(call.add({0, k_most - 16}) == parts({}, {0, k_most - k_page}));
  CHECK(call.add({k_most - 16, 2 * k_most - 16}) == parts({}, {k_most - k_page, 2 * k_most - k_page}));
  CHECK(call.add({2 * k_most - 16, 2 * k_most + 100}) == parts({}, {2 * k_most - k_page, 2 * k_most + 100}));
  CHECK(call.rest().empty());
  // Nothing follows, or something else.
  CHECK(call.add({0, k_most - 16}).second == Extent{0, k_most - k_page});
  CHECK(call.rest() == Extent{k_most - k_page, k_most - 16});
  CHECK(call.rest().empty());
  CHECK(call.add({0, k_most - 16}).second == Extent{0, k_most - k_page});
  CHECK(call.add({0, 100}) == parts({k_most - k_page, k_most - 16}, {0, 100}));
  // At an odd place of the file, and at pages.
  CHECK(call.add({5, k_most + 5}) == parts({}, {5, k_most}));
  CHECK(call.add({k_most + 5, 2 * k_most}) == parts({}, {k_most, 2 * k_most}));
  CHECK(call.add({0, k_most}) == parts({}, {0, k_most}));
  CHECK(call.add({7, 1000}) == parts({}, {7, 1000}));
  CHECK(call.rest().empty());
}

TEST_CASE("locks of fcntl: of several clients, in parts, and over with the handle") {
  FileLocks locks;
  constexpr auto k_end = std::numeric_limits<std::int64_t>::max();
  CHECK(locks.take(1, lock(0, 100, true, 0, 7)));
  CHECK(!locks.take(1, lock(50, 60, false, 1, 7)));  // the same number is another owner on another client
  CHECK(locks.take(2, lock(50, 60, true, 1, 7)));    // another file
  CHECK(locks.take(1, lock(100, k_end, true, 1, 7)));
  CHECK(locks.conflict(1, lock(10, 11, false, 2, 1))->owner == LockOwner{0, 7});
  locks.unlock(1, {0, 7}, {40, 60});
  CHECK(locks.take(1, lock(40, 60, true, 2, 1, 5)));
  CHECK(!locks.take(1, lock(39, 40, true, 2, 1)));
  CHECK(!locks.take(1, lock(60, 61, true, 2, 1)));
  // A lock of one's own is changed: to one that readers may share.
  CHECK(locks.take(1, lock(40, 60, false, 2, 1, 5)));
  CHECK(locks.take(1, lock(40, 60, false, 3, 1, 6)));
  locks.drop_handle(1, 5);
  CHECK(!locks.take(1, lock(40, 60, true, 0, 7)));
  locks.drop_handle(1, 6);
  CHECK(locks.take(1, lock(40, 60, true, 0, 7)));
}

TEST_CASE("Lustre's attribute: there and back, and what is none") {
  const std::string folder = lustre_attribute({4 << 20, -1}, {});
  CHECK(folder.size() == 32);
  const auto of_folder = read_lustre_attribute(folder);
  REQUIRE(of_folder);
  CHECK(of_folder->striping.bytes == 4 << 20);
  CHECK(of_folder->striping.count == -1);
  CHECK(of_folder->servers.empty());
  const std::string file = lustre_attribute({1 << 20, 2}, {5, 6});
  CHECK(file.size() == 32 + 2 * 24);
  CHECK(read_lustre_attribute(file)->servers == std::vector<int>{5, 6});
  // Magic number of version 1, in the order of little-endian machines.
  CHECK(file.substr(0, 4) == std::string("\xD0\x0B\xD1\x0B", 4));
  std::string third = folder + std::string(16, 'p');
  third[2] = '\xD3';
  CHECK(read_lustre_attribute(third)->striping.count == -1);
  CHECK(!read_lustre_attribute("short"));
  CHECK(!read_lustre_attribute(std::string(32, '\0')));
}

TEST_CASE("up to the grace, a request counts as if it came when the last reply was due") {
  Turnarounds turnarounds(0.25);
  CHECK(turnarounds.arrival(0, 10, 5.0) == 5.0);
  turnarounds.replied(0, 10, 6.0);
  CHECK(turnarounds.arrival(1, 10, 6.125) == 6.125);  // another client
  CHECK(turnarounds.arrival(0, 10, 6.125) == 6.0);
  CHECK(turnarounds.arrival(0, 10, 8.0) == 7.75);
  turnarounds.replied(0, 10, 9.0);
  CHECK(turnarounds.arrival(0, 10, 8.5) == 8.5);  // never later than it was seen
}

TEST_CASE("clock: a scale, and no moment that is too late for it") {
  const Clock clock(0.01);
  CHECK(std::chrono::duration<double>(clock.real(100) - clock.real(0)).count() == doctest::Approx(1));
  CHECK(clock.real(1e30) > clock.real(1e6));
}
