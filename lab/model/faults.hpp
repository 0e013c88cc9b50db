// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "model/parameters.hpp"

namespace shoal::lab {

/// Counts requests, and says which of them fail or find a server that stalls.
class Faults {
 public:
  explicit Faults(const FaultParameters& parameters)
      : parameters_(parameters),
        requests_of_stalls_(parameters.stalls.size()),
        requests_of_errors_(parameters.errors.size()) {}

  /// A client's request: 0, or the errno that it fails with.
  int request(Operation operation, ClientId client);
  /// A request of a client (-1: a commit, of no client) that arrives at a server: for how long the server
  /// does nothing from now on; 0 almost always.
  Seconds stall(int server, ClientId client);
  /// Whether files may have this many bytes.
  bool fits(std::int64_t bytes) const { return bytes <= parameters_.space; }
  const FaultParameters& parameters() const { return parameters_; }

 private:
  FaultParameters parameters_;
  std::vector<std::int64_t> requests_of_stalls_;
  std::vector<std::int64_t> requests_of_errors_;
};

}  // namespace shoal::lab
