// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "plain.hpp"
#include "preset/read_preset.hpp"

using namespace shoal::lab;

namespace {

const std::string k_text =
    "kind = 'lustre'\n[servers]\nwrite_bandwidth = 1e8\nread_bandwidth = 1e8\n"
    "[network]\nclient_bandwidth = 1e9\n";

void refused(const std::string& lines, const std::string& message) {
  CAPTURE(lines);
  CHECK_THROWS_WITH_AS(read_preset(k_text, "test", {lines}), doctest::Contains(message.c_str()),
                       std::invalid_argument);
}

}  // namespace

TEST_CASE(
    "presets: each of the package is read, and a file written to it takes the time of its slowest part") {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LAB_PRESETS)) {
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    CAPTURE(entry.path().string());
    const Parameters parameters = read_preset(text, entry.path().filename());
    CHECK(!parameters.about.empty());
    ++count;
    Model model(parameters, 1);
    make_file(model, 2);
    const Seconds begin = model.create(0, 0, 1).done;
    CHECK(begin > 0);
    const std::int64_t bytes = 2048 * k_mib;
    const Seconds done = model.fsync(write_all(model, 0, 2, {0, bytes}, 8 * k_mib, begin), 0, 2).done - begin;
    const int stripes = model.layout(2).stripe_count;
    const double slowest =
        std::min({stripes * parameters.servers.write_bandwidth, parameters.network.client_bandwidth,
                  parameters.cache.bandwidth > 0 ? parameters.cache.bandwidth : 1e99});
    // Not faster than that; and, as latencies and seeks are small beside 2 GiB, not much slower, where pieces
    // overlap.
    CHECK(done >= static_cast<double>(bytes) / slowest);
    if (parameters.cache.bytes > 0 && parameters.kind != "beegfs")
      CHECK(done < 1.25 * static_cast<double>(bytes) / slowest);
  }
  CHECK(count == 8);
}

TEST_CASE("presets: changes replace single keys") {
  const Parameters parameters = read_preset(
      k_text, "test",
      {"servers.number = 16", "striping = { bytes = '4 MiB', count = -1 }", "cache.page_bytes = 4096",
       "faults.errors = [{ operation = 'fsync', at_request = 3, error = 'ENOSPC', client = 1 }]",
       "faults.stalls = [{ server = 2, seconds = 0.5, at_request = 7 }]", "faults.space = '1 GiB'",
       "locks.mode = 'file'"});
  CHECK(parameters.servers.number == 16);
  CHECK(parameters.servers.write_bandwidth == 1e8);
  CHECK(parameters.striping.bytes == 4 * k_mib);
  CHECK(parameters.striping.count == -1);
  REQUIRE(parameters.faults.errors.size() == 1);
  CHECK(parameters.faults.errors[0].operation == Operation::fsync);
  CHECK(parameters.faults.errors[0].error == ENOSPC);
  REQUIRE(parameters.faults.stalls.size() == 1);
  CHECK(parameters.faults.stalls[0].at_request == 7);
  CHECK(parameters.faults.space == 1024 * k_mib);
  CHECK(parameters.locks.mode == LockMode::file);
}

TEST_CASE("presets: what cannot be read is refused with its place") {
  refused("servers.numbers = 16",
          "test: servers.numbers: there is no such key; there are commit, load, number");
  refused("server.number = 16", "there is no such part; there are kind, about, [cache]");
  refused("servers.number = 1.5", "servers.number: a whole number is needed");
  refused("servers.number = 0", "servers.number: 1 or more is needed");
  refused("servers.seek = '1'", "servers.seek: a number is needed");
  refused("locks.mode = 'files'", "locks.mode: one of none, file, extents is needed");
  refused("locks.grow = 1", "locks.grow: true or false is needed");
  refused("striping.bytes = '4 MB'", "'4 MB' is no number of bytes");
  refused("striping.bytes = '99999999 TiB'", "is no number of bytes");
  refused("faults.errors = [1]", "faults.errors: a list of tables is needed");
  refused("faults.errors = [{ at = 1 }]", "faults.errors.at: there is no such key");
  refused("kind = 'A b'", "kind: a word of small letters");
  refused("servers.number = ", "line 1");
  CHECK_THROWS_WITH_AS(read_preset("", "test"), doctest::Contains("kind"), std::invalid_argument);
}
