// SPDX-License-Identifier: BSD-3-Clause
// A file system in which nothing costs anything but bytes on servers, for tests to add one part at a time.
#pragma once

#include <doctest/doctest.h>

#include "model/model.hpp"
#include "validation.hpp"

namespace shoal::lab {

inline constexpr std::int64_t k_mib = 1 << 20;
/// doctest's own tolerance is relative to the value and one more, which makes a second much for milliseconds.
inline doctest::Approx approx(double value) {
  return doctest::Approx(value).scale(0);
}
inline constexpr double k_server = 100e6;  ///< bytes a second, to write; twice that to read

inline Parameters plain(int servers = 1, int stripes = 1) {
  Parameters parameters;
  parameters.kind = "lustre";
  parameters.servers.number = servers;
  parameters.servers.write_bandwidth = k_server;
  parameters.servers.read_bandwidth = 2 * k_server;
  parameters.network.client_bandwidth = 1e15;
  parameters.striping.count = stripes;
  return parameters;
}

/// A file of folder 1, made at the time 0.
inline void make_file(Model& model, FileId file, ClientId client = 0) {
  REQUIRE(model.create(0, client, 1).error == 0);
  model.add_file(client, file, 1, 0);
}

/// Calls in pieces of the extent, one after the other, and returns when the last one is done.
template <class Call>
Seconds in_pieces(Extent extent, std::int64_t piece, Seconds now, const Call& call) {
  for (std::int64_t at = extent.begin; at < extent.end; at += piece) {
    const auto outcome = call(now, Extent{at, std::min(extent.end, at + piece)});
    REQUIRE(outcome.error == 0);
    now = outcome.done;
  }
  return now;
}

inline Seconds write_all(Model& model, ClientId client, FileId file, Extent extent, std::int64_t piece,
                         Seconds now) {
  return in_pieces(extent, piece, now,
                   [&](Seconds at, Extent part) { return model.write(at, client, file, part); });
}

inline Seconds read_all(Model& model, ClientId client, FileId file, Extent extent, std::int64_t piece,
                        Seconds now) {
  return in_pieces(extent, piece, now,
                   [&](Seconds at, Extent part) { return model.read(at, client, file, part); });
}

}  // namespace shoal::lab
