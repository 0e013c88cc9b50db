// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "model/faults.hpp"
#include "model/parameters.hpp"
#include "model/server.hpp"
#include "model/striping.hpp"
#include "model/timetable.hpp"

namespace shoal::lab {

/// The links of the clients, and what all of them share.
class Network {
 public:
  Network(const NetworkParameters& parameters, int clients);

  /// When the last byte has come over, if the first could go at `now`. Direction::write: from the client.
  Seconds carry(ClientId client, Direction direction, std::int64_t bytes, Seconds now);
  Seconds latency() const { return parameters_.latency; }

 private:
  struct BothWays {
    Timetable up;
    Timetable down;
    Timetable& to(Direction direction) { return direction == Direction::write ? up : down; }
  };
  NetworkParameters parameters_;
  std::vector<BothWays> links_;
  BothWays shared_;
};

/// Brings requests from clients to servers and back. A request is on a server when all its bytes have arrived
/// there.
class Transport {
 public:
  Transport(const Parameters& parameters, int clients, Faults& faults);

  /// Bytes of one object, in requests of `request_bytes` at most, which begin at multiples of it. When the
  /// client knows that the last one is done, if the first goes at `now`.
  Seconds move(Direction direction, ClientId client, FileId file, const Layout& layout, Layout::Part part,
               Seconds now);
  /// The same for a request that makes a server bring what it has of an object to its medium.
  Seconds commit(const Layout& layout, int object, Seconds now);
  /// A file is gone.
  void forget(FileId file);
  Seconds latency() const { return network_.latency(); }
  const std::vector<Server>& servers() const { return servers_; }

 private:
  Seconds request(Direction direction, ClientId client, FileId file, int server, Layout::Part part,
                  Seconds now);
  void arrive(int server, ClientId client, Seconds moment);

  std::int64_t request_bytes_;
  Network network_;
  std::vector<Server> servers_;
  Faults& faults_;
};

}  // namespace shoal::lab
