// SPDX-License-Identifier: BSD-3-Clause
// The model against arithmetic: what a run must take by the parameters, within 5 %, most of it exactly.
#include <algorithm>
#include <random>

#include "plain.hpp"

using namespace shoal::lab;

TEST_CASE("one client and one stripe: the server's bandwidth, without and with a cache") {
  for (const bool cached : {false, true}) {
    CAPTURE(cached);
    Parameters parameters = plain(4, 1);
    if (cached) {
      parameters.cache.bytes = 256 * k_mib;
      parameters.cache.dirty_bytes = 32 * k_mib;
    }
    Model model(parameters, 1);
    make_file(model, 2);
    Seconds done = write_all(model, 0, 2, {0, 1024 * k_mib}, k_mib, 0);
    done = model.fsync(done, 0, 2).done;
    const double bytes = 1024.0 * k_mib;
    const std::string how = cached ? " through a cache, fsync" : " without a cache";
    validate({"Server", "one client writes 1 GiB to one stripe" + how, "bytes / bandwidth", bytes / k_server,
              done});
    // Reading: twice as fast.
    Model again(parameters, 2);
    make_file(again, 2);
    done = again.fsync(write_all(again, 0, 2, {0, 1024 * k_mib}, k_mib, 0), 0, 2).done;
    const Seconds read = read_all(again, 1, 2, {0, 1024 * k_mib}, k_mib, done) - done;
    validate({"Server", "another client reads it" + how.substr(0, how.find(',')),
              "bytes / bandwidth of reading", bytes / (2 * k_server), read});
  }
}

TEST_CASE("n clients on n stripes: n times the bandwidth; on one stripe: once") {
  for (const int n : {1, 2, 4, 8}) {
    for (const bool spread : {true, false}) {
      Model model(plain(8, spread ? n : 1), n);
      make_file(model, 2);
      std::vector<Seconds> at(static_cast<std::size_t>(n), 0);
      for (int step = 0; step < 256; ++step)
        for (ClientId client = 0; client < n; ++client) {
          const std::int64_t begin = (std::int64_t{step} * n + client) * k_mib;
          Seconds& mine = at[static_cast<std::size_t>(client)];
          mine = model.write(mine, client, 2, {begin, begin + k_mib}).done;
        }
      const double one = 256.0 * k_mib / k_server;
      const Seconds last = *std::max_element(at.begin(), at.end());
      if (n < 8)
        CHECK(last == approx(spread ? one : n * one).epsilon(0.01));
      else if (spread)
        validate({"Layout", "8 clients, each 256 MiB, in turns on 8 stripes", "bytes / (8 x bandwidth)", one,
                  last});
      else
        validate({"Layout", "8 clients, each 256 MiB, in turns on one stripe", "bytes / bandwidth", n * one,
                  last});
    }
  }
}

TEST_CASE("one client on many stripes: all servers at once, up to its own link") {
  Parameters parameters = plain(16, 16);
  parameters.cache.bytes = 512 * k_mib;
  parameters.cache.dirty_bytes = 64 * k_mib;
  Model wide(parameters, 1);
  make_file(wide, 2);
  Seconds done = wide.fsync(write_all(wide, 0, 2, {0, 4096 * k_mib}, k_mib, 0), 0, 2).done;
  validate({"Layout", "one client writes 4 GiB to 16 stripes", "bytes / (16 x bandwidth)",
            4096.0 * k_mib / (16 * k_server), done});
  parameters.network.client_bandwidth = 500e6;
  Model narrow(parameters, 1);
  make_file(narrow, 2);
  done = narrow.fsync(write_all(narrow, 0, 2, {0, 4096 * k_mib}, k_mib, 0), 0, 2).done;
  validate({"Network", "one client writes 4 GiB to 16 stripes over a link of 500 MB/s", "bytes / link",
            4096.0 * k_mib / 500e6, done});
}

TEST_CASE("without a cache a write waits for link, way, server and way back") {
  Parameters parameters = plain();
  parameters.network.client_bandwidth = 1e9;
  parameters.network.latency = 1e-3;
  parameters.servers.write_latency = 2e-3;
  Model model(parameters, 1);
  make_file(model, 2);
  validate({"Transport", "a write of 1 MiB without a cache",
            "bytes / link + way + latency + bytes / bandwidth + way",
            k_mib / 1e9 + 1e-3 + 2e-3 + k_mib / k_server + 1e-3, model.write(0, 0, 2, {0, k_mib}).done});
}

TEST_CASE("a cache takes writes at once until the limit of dirty bytes, and a limit is a rate") {
  Parameters parameters = plain();
  parameters.cache.bytes = 64 * k_mib;
  parameters.cache.dirty_bytes = 8 * k_mib;
  parameters.cache.bandwidth = 1e9;
  Model model(parameters, 1);
  make_file(model, 2);
  const Seconds at_once = write_all(model, 0, 2, {0, 8 * k_mib}, k_mib, 0);
  CHECK(at_once == approx(8.0 * k_mib / 1e9));
  const Seconds waited = write_all(model, 0, 2, {8 * k_mib, 108 * k_mib}, k_mib, at_once);
  validate({"ClientCache", "100 MiB more than may be dirty", "bytes / bandwidth", 100.0 * k_mib / k_server,
            waited - at_once});
}

TEST_CASE("small writes become whole requests in a cache") {
  Parameters parameters = plain();
  parameters.servers.write_latency = 1e-3;
  parameters.cache.bytes = 64 * k_mib;
  parameters.cache.dirty_bytes = 32 * k_mib;
  Model cached(parameters, 1);
  make_file(cached, 2);
  validate({"ClientCache", "16 MiB in writes of 4 KiB, fsync", "16 x (latency + 1 MiB / bandwidth)",
            16 * (1e-3 + k_mib / k_server),
            cached.fsync(write_all(cached, 0, 2, {0, 16 * k_mib}, 4096, 0), 0, 2).done});
  CHECK(cached.servers()[0].requests() == 16);
  parameters.cache.bytes = 0;
  Model bare(parameters, 1);
  make_file(bare, 2);
  CHECK(write_all(bare, 0, 2, {0, k_mib}, 4096, 0) == approx(256 * 1e-3 + k_mib / k_server));
}

TEST_CASE("dirty pages are sent after the time of writeback") {
  Parameters parameters = plain();
  parameters.cache.bytes = 64 * k_mib;
  parameters.cache.dirty_bytes = 32 * k_mib;
  parameters.cache.writeback = 5;
  Model model(parameters, 1);
  make_file(model, 2);
  model.write(0, 0, 2, {0, 1000});
  model.stat(4.9, 0, 2, 1);
  CHECK(model.servers()[0].requests() == 0);
  model.stat(5.1, 0, 2, 1);
  CHECK(model.servers()[0].requests() == 1);
  // It was done at 5 and 10 microseconds.
  CHECK(model.fsync(6, 0, 2).done == 6);
}

namespace {

Parameters with_locks(bool cached) {
  Parameters parameters = plain();
  parameters.locks.mode = LockMode::extents;
  parameters.locks.revoke = 3e-3;
  parameters.locks.enqueue = 1e-3;
  parameters.network.latency = 1e-4;
  if (cached) {
    parameters.cache.bytes = 64 * k_mib;
    parameters.cache.dirty_bytes = 32 * k_mib;
    parameters.cache.page_bytes = 4096;
  }
  return parameters;
}

}  // namespace

TEST_CASE(
    "two clients in turns in one stripe: each write costs a revocation and the flush of the other's pages") {
  Model model(with_locks(true), 2);
  make_file(model, 2);
  constexpr std::int64_t k_bytes = 64 * 1024;
  Seconds now = 0;
  now = model.write(now, 0, 2, {0, k_bytes}).done;
  now = model.write(now, 1, 2, {k_bytes, 2 * k_bytes}).done;
  const Seconds begin = now;
  constexpr int k_turns = 100;
  for (int turn = 2; turn < k_turns + 2; ++turn)
    now = model.write(now, turn % 2, 2, {turn * k_bytes, (turn + 1) * k_bytes}).done;
  // To the server, to the holder, its pages to their server and the answer, its cancel to the server, to the
  // client.
  const Seconds flush = k_bytes / k_server + 2e-4;
  validate({"LockTable", "two clients write 64 KiB by turns in one stripe, each write",
            "6 ways + bytes / bandwidth + revocation + lock", 4e-4 + flush + 3e-3 + 1e-3,
            (now - begin) / k_turns});
  CHECK(model.counters().revocations == k_turns + 1);
}

TEST_CASE(
    "two clients in turns at once, in one stripe: they wait for each other; in two stripes they do not") {
  const auto run = [](int stripes) {
    Parameters parameters = with_locks(true);
    parameters.servers.number = 2;
    parameters.striping.count = stripes;
    Model model(parameters, 2);
    make_file(model, 2);
    std::vector<Seconds> at(2, 0);
    for (int step = 0; step < 64; ++step)
      for (ClientId client = 0; client < 2; ++client) {
        const std::int64_t begin = (2 * step + client) * k_mib;
        at[static_cast<std::size_t>(client)] =
            model.write(at[static_cast<std::size_t>(client)], client, 2, {begin, begin + k_mib}).done;
      }
    return std::pair(std::max(at[0], at[1]), model.counters().revocations);
  };
  const auto [one, revocations_of_one] = run(1);
  const auto [two, revocations_of_two] = run(2);
  CHECK(revocations_of_two == 0);
  CHECK(revocations_of_one >= 126);
  CHECK(one > 126 * 4e-3);
  CHECK(two < one / 4);
}

TEST_CASE("a gap within a page is none for a server that seeks") {
  const auto committed = [](std::int64_t step, std::int64_t page_bytes) {
    Parameters parameters = plain();
    parameters.cache.bytes = 64 * k_mib;
    parameters.cache.dirty_bytes = 32 * k_mib;
    parameters.cache.page_bytes = page_bytes;
    parameters.servers.seek = 1;
    Model model(parameters, 1);
    make_file(model, 2);
    Seconds now = 0;
    for (int part = 0; part < 8; ++part)
      now = model.write(now, 0, 2, {part * step, part * step + 5000}).done;
    return model.fsync(now, 0, 2).done;
  };
  for (const std::int64_t page_bytes : {1, 4096}) {
    CHECK(committed(8192, page_bytes) < 2);
    CHECK(committed(12288, page_bytes) > 8);
  }
}

TEST_CASE("clients that write parts of their own come to terms after a lock each") {
  for (const bool whole : {true, false}) {
    Parameters parameters = with_locks(true);
    parameters.locks.revoke_whole = whole;
    Model model(parameters, 4);
    make_file(model, 2);
    Seconds now = 0;
    for (int step = 0; step < 64; ++step)
      for (ClientId client = 0; client < 4; ++client) {
        const std::int64_t begin = (64 * client + step) * k_mib;
        now = model.write(now, client, 2, {begin, begin + k_mib}).done;
      }
    CHECK(model.counters().revocations >= 3);
    CHECK(model.counters().revocations <= 6);
  }
}

TEST_CASE("one client needs one lock for a file, as it grows") {
  Model model(with_locks(true), 1);
  make_file(model, 2);
  write_all(model, 0, 2, {0, 64 * k_mib}, k_mib, 0);
  CHECK(model.counters().lock_requests == 1);
}

TEST_CASE("tokens of which only the part that is needed is lost: strides settle") {
  Parameters parameters = with_locks(true);
  parameters.locks.of_objects = false;
  parameters.locks.revoke_whole = false;
  parameters.servers.number = 4;
  parameters.striping.count = 4;
  Model model(parameters, 2);
  make_file(model, 2);
  Seconds now = 0;
  const auto round = [&] {
    const auto before = model.counters().revocations;
    for (int part = 0; part < 32; ++part)
      now = model.write(now, part % 2, 2, {part * k_mib, (part + 1) * k_mib}).done;
    return model.counters().revocations - before;
  };
  CHECK(round() > 0);
  CHECK(round() == 0);
}

TEST_CASE("a part of a page is read before it is written, once") {
  Parameters parameters = plain();
  parameters.cache.bytes = 64 * k_mib;
  parameters.cache.dirty_bytes = 32 * k_mib;
  parameters.cache.page_bytes = 4096;
  parameters.servers.read_latency = 1e-3;
  Model model(parameters, 2);
  make_file(model, 2);
  Seconds now = write_all(model, 0, 2, {0, k_mib}, k_mib, 0);
  now = model.fsync(now, 0, 2).done;
  model.open(now, 1, 2, 1);
  const Seconds page = 1e-3 + 4096 / (2 * k_server);
  validate({"ClientCache", "a write of a part of a page", "latency + page / bandwidth of reading", page,
            model.write(now, 1, 2, {100, 200}).done - now});
  CHECK(model.write(now + 1, 1, 2, {300, 400}).done == now + 1);
  // Whole pages, and what lies behind the end, need no reading; both ends of an extent do.
  CHECK(model.write(now + 2, 1, 2, {8192, 16384}).done == now + 2);
  CHECK(model.write(now + 2, 1, 2, {k_mib, k_mib + 10}).done == now + 2);
  // Nor does a gap behind the end, which is zeros.
  CHECK(model.write(now + 2, 1, 2, {k_mib + 100, k_mib + 200}).done == now + 2);
  CHECK(model.write(now + 2, 1, 2, {k_mib + 300, k_mib + 400}).done == now + 2);
  // The rest of the page with the old end is zeros, too, when the next bytes come behind it.
  CHECK(model.write(now + 2, 1, 2, {k_mib + 8192, k_mib + 8200}).done == now + 2);
  CHECK(model.read(now + 2, 1, 2, {k_mib, k_mib + 4096}).done == now + 2);
  CHECK(model.write(now + 3, 1, 2, {20000, 30000}).done == approx(now + 3 + 2 * page));
  CHECK(model.counters().partial_page_reads == 3);
}

TEST_CASE("close-to-open: what one wrote comes to the other when it opens the file, and costs a fetch") {
  Parameters parameters = plain();
  parameters.locks.mode = LockMode::file;
  parameters.cache.bytes = 64 * k_mib;
  parameters.cache.dirty_bytes = 32 * k_mib;
  parameters.cache.flush_on_close = true;
  Model model(parameters, 2);
  make_file(model, 2);
  const Seconds written = model.write(0, 0, 2, {0, 512 * 1024}).done;
  CHECK(written == 0);
  const Seconds bytes = 512 * 1024 / k_server;
  const Seconds closed = model.close(written, 0, 2).done;
  CHECK(closed == approx(bytes));
  Seconds now = model.open(closed, 1, 2, 1).done;
  now = model.read(now, 1, 2, {0, 512 * 1024}).done;
  validate({"LockTable", "close-to-open: what the other one wrote is fetched", "bytes / bandwidth of reading",
            bytes / 2, now - closed});
  CHECK(model.read(now, 1, 2, {0, 512 * 1024}).done == now);  // in the cache
  // Nobody else changed it: pages stay over an open. After a change they do not.
  CHECK(model.open(now, 1, 2, 1).done == now);
  CHECK(model.read(now, 1, 2, {0, 512 * 1024}).done == now);
  model.write(now, 0, 2, {0, 512 * 1024});
  CHECK(model.read(now, 1, 2, {0, 512 * 1024}).done == now);  // not opened again: old pages
  now = model.close(now, 0, 2).done;
  model.open(now, 1, 2, 1);
  CHECK(model.read(now, 1, 2, {0, 512 * 1024}).done == approx(now + bytes / 2));
}

TEST_CASE("read-ahead: small sequential reads cost whole requests") {
  Parameters parameters = plain(4, 4);
  parameters.servers.read_latency = 1e-3;
  parameters.cache.bytes = 256 * k_mib;
  parameters.cache.dirty_bytes = 32 * k_mib;
  const auto run = [&](std::int64_t ahead) {
    parameters.cache.read_ahead_bytes = ahead;
    Model model(parameters, 2);
    make_file(model, 2);
    const Seconds begin = model.fsync(write_all(model, 0, 2, {0, 64 * k_mib}, k_mib, 0), 0, 2).done;
    return read_all(model, 1, 2, {0, 64 * k_mib}, 65536, begin) - begin;
  };
  CHECK(run(0) == approx(1024 * (1e-3 + 65536 / (2 * k_server))));
  // Four servers at once, and nothing is ahead of the first request.
  validate({"ClientCache", "64 MiB read in pieces of 64 KiB, 8 MiB ahead, 4 stripes",
            "16 x (latency + 1 MiB / bandwidth of reading)", 16 * (1e-3 + k_mib / (2 * k_server)),
            run(8 * k_mib)});
}

TEST_CASE("attributes are believed for a time; with locks a change is heard of") {
  for (const LockMode mode : {LockMode::file, LockMode::extents}) {
    Parameters parameters = plain();
    parameters.locks.mode = mode;
    parameters.metadata.stat = 1e-3;
    parameters.cache.attributes = 3;
    Model model(parameters, 2);
    make_file(model, 2);
    CHECK(model.stat(0, 1, 2, 1).done == approx(1e-3));
    CHECK(model.stat(2, 1, 2, 1).done == 2);
    model.write(2, 0, 2, {0, 10});
    CHECK(model.stat(2.5, 1, 2, 1).done == approx(mode == LockMode::file ? 2.5 : 2.5 + 1e-3));
    CHECK(model.stat(3.6, 1, 2, 1).done == approx(mode == LockMode::file ? 3.6 + 1e-3 : 3.6));
  }
}

TEST_CASE("stripes of files and folders") {
  Parameters parameters = plain(8, 1);
  parameters.cache.page_bytes = 4096;
  Model model(parameters, 1);
  model.add_folder(10, 1);
  CHECK(model.set_striping(10, true, {4 * k_mib, -1}) == 0);
  model.add_folder(11, 10);
  model.add_file(0, 20, 11, 0);
  CHECK(model.layout(20).stripe_count == 8);
  CHECK(model.layout(20).stripe_bytes == 4 * k_mib);
  CHECK(model.set_striping(20, false, {0, 3}) == 0);
  CHECK(model.layout(20).stripe_count == 3);
  CHECK(model.layout(20).stripe_bytes == k_mib);
  CHECK(model.set_striping(20, false, {1000, 3}) == EINVAL);
  CHECK(model.set_striping(20, false, {4096, -2}) == EINVAL);
  model.write(0, 0, 20, {0, 1});
  CHECK(model.set_striping(20, false, {0, 2}) == EEXIST);
  // New files begin on the server behind the last file's.
  model.add_file(0, 21, 1, 0);
  model.add_file(0, 22, 1, 0);
  CHECK(model.layout(22).first_server == (model.layout(21).first_server + 1) % 8);
}

TEST_CASE("space: taken once a byte, given back, and ENOSPC at the limit with nothing taken") {
  Parameters parameters = plain();
  parameters.faults.space = 1000;
  Model model(parameters, 1);
  make_file(model, 2);
  CHECK(model.write(0, 0, 2, {0, 600}).error == 0);
  CHECK(model.write(0, 0, 2, {100, 600}).error == 0);
  CHECK(model.used() == 600);
  CHECK(model.write(0, 0, 2, {600, 1001}).error == ENOSPC);
  CHECK(model.used() == 600);
  CHECK(model.allocate(0, 0, 2, {600, 1000}, true).error == 0);
  CHECK(model.write(0, 0, 2, {600, 1000}).error == 0);
  CHECK(model.punch(0, 0, 2, {0, 100}).error == 0);
  CHECK(model.used() == 900);
  CHECK(model.truncate(0, 0, 2, 50).error == 0);
  CHECK(model.used() == 0);
  CHECK(model.write(0, 0, 2, {0, 1000}).error == 0);
  model.remove_file(2);
  CHECK(model.used() == 0);
}

TEST_CASE("a server that stalls holds up those that need it, and nobody else") {
  Parameters parameters = plain(2, 1);
  parameters.faults.stalls = {{0, 30, 5, 0}};
  Model model(parameters, 2);
  make_file(model, 2);  // on server 0
  make_file(model, 3);  // on server 1
  const double one = k_mib / k_server;
  Seconds here = write_all(model, 0, 2, {0, 4 * k_mib}, k_mib, 0);
  CHECK(here == approx(4 * one));
  here = write_all(model, 0, 2, {4 * k_mib, 8 * k_mib}, k_mib, here);
  validate(
      {"Faults", "8 MiB on a server that stalls for 30 s", "bytes / bandwidth + 30 s", 8 * one + 30, here});
  CHECK(write_all(model, 1, 3, {0, 8 * k_mib}, k_mib, 0) == approx(8 * one));
  parameters.faults.stalls = {{0, 30, 0, 1.0}};
  Model timed(parameters, 1);
  make_file(timed, 2);
  CHECK(write_all(timed, 0, 2, {0, 200 * k_mib}, k_mib, 0) == approx(200 * one + 30));
}

TEST_CASE("fsync costs each server that was written to its commit, at once") {
  Parameters parameters = plain(4, 4);
  parameters.servers.commit = 0.5;
  parameters.metadata.fsync = 0.25;
  Model model(parameters, 1);
  make_file(model, 2);
  const Seconds now = model.write(0, 0, 2, {0, 2 * k_mib}).done;
  validate({"Server", "fsync of what two servers got", "commit + fsync of metadata", 0.75,
            model.fsync(now, 0, 2).done - now});
  CHECK(model.fsync(now + 10, 0, 2).done == approx(now + 10.25));
  // O_SYNC: each write commits.
  CHECK(model.write(100, 0, 2, {0, k_mib}, true, true).done == approx(100 + k_mib / k_server + 0.5));
}

TEST_CASE("clients that wait for a commit of a server share it") {
  Parameters parameters = plain();
  parameters.servers.commit = 1;
  Model model(parameters, 5);
  make_file(model, 2);
  for (ClientId client = 0; client < 5; ++client)
    CHECK(model.write(0, client, 2, {client * k_mib, (client + 1) * k_mib}).error == 0);
  constexpr Seconds k_begin = 100;
  CHECK(model.fsync(k_begin, 0, 2).done == approx(k_begin + 1));
  CHECK(model.fsync(k_begin + 0.5, 1, 2).done == approx(k_begin + 2));
  CHECK(model.fsync(k_begin + 0.6, 2, 2).done == approx(k_begin + 2));
  validate({"Server", "fsync of 4 clients, one a little before the others", "2 commits", 2,
            model.fsync(k_begin + 0.7, 3, 2).done - k_begin});
  CHECK(model.fsync(k_begin + 1.5, 4, 2).done == approx(k_begin + 3));
}

TEST_CASE("the same requests give the same times") {
  const auto run = [] {
    Parameters parameters = with_locks(true);
    parameters.servers.number = 4;
    parameters.striping.count = 3;
    parameters.cache.read_ahead_bytes = k_mib;
    Model model(parameters, 3);
    make_file(model, 2);
    std::mt19937 random(3);
    std::vector<Seconds> times;
    Seconds now = 0;
    for (int i = 0; i < 2000; ++i) {
      const auto client = static_cast<ClientId>(random() % 3);
      const auto begin = static_cast<std::int64_t>(random() % (32 * k_mib));
      const Extent extent{begin, begin + static_cast<std::int64_t>(random() % 300000) + 1};
      const auto outcome = random() % 3 == 0 ? model.read(now, client, 2, extent)
                                             : model.write(now, client, 2, extent, random() % 9 == 0);
      CHECK(outcome.done >= now);
      times.push_back(outcome.done);
      now += 1e-3;
    }
    return times;
  };
  CHECK(run() == run());
}

TEST_CASE("parameters that cannot be are refused by name") {
  const auto refused = [](auto change, const char* name) {
    Parameters parameters = plain();
    change(parameters);
    CHECK_THROWS_WITH_AS(check(parameters), doctest::Contains(name), std::invalid_argument);
  };
  refused([](Parameters& p) { p.servers.number = 0; }, "servers.number");
  refused([](Parameters& p) { p.servers.write_bandwidth = 0; }, "servers.write_bandwidth");
  refused([](Parameters& p) { p.servers.load = 1; }, "servers.load");
  refused([](Parameters& p) { p.servers.slow = {{3, 0.5}}; }, "servers.slow.server");
  refused([](Parameters& p) { p.striping.count = 0; }, "striping.count");
  refused([](Parameters& p) { p.cache.page_bytes = 4096, p.striping.bytes = 1000; }, "striping.bytes");
  refused([](Parameters& p) { p.cache.bytes = k_mib; }, "cache.dirty_bytes");
  refused([](Parameters& p) { p.metadata.create = -1; }, "0 or more");
  refused([](Parameters& p) { p.faults.stalls = {{1, 1, 1, 0}}; }, "stalls.server");
  refused([](Parameters& p) { p.faults.stalls = {{-1, 1, 0, 3}}; }, "stalls.server");
  CHECK_THROWS_AS(Model(plain(), 0), std::invalid_argument);
}
