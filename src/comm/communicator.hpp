// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.hpp"

namespace shoal {

/// Ranks, and the collective calls that shared memory between them is made with. Comm is the one class of it.
class Communicator {
 public:
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// A communicator of MPI with these ranks, to compare with others; not for messages. Local.
  virtual MPI_Comm ranks() const = 0;

  // Collective, and as Comm has them.
  virtual void barrier() const = 0;
  virtual void broadcast(std::byte* data, std::int64_t bytes, int root) const = 0;
  virtual std::vector<std::int64_t> max(std::vector<std::int64_t> mine) const = 0;
  virtual Status agree(const Status& mine) const = 0;

 protected:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}
  Communicator(const Communicator&) = default;
  Communicator& operator=(const Communicator&) = default;
  ~Communicator() = default;

  int rank_;
  int size_;
};

}  // namespace shoal
