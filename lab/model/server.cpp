// SPDX-License-Identifier: BSD-3-Clause
#include "model/server.hpp"

#include <limits>

namespace shoal::lab {

Server::Server(const ServerParameters& parameters, int number)
    : parameters_(parameters), share_(1 - parameters.load) {
  for (const SlowServer& slow : parameters.slow)
    if (slow.server == number) share_ *= slow.factor;
}

Seconds Server::serve(Direction direction, std::pair<FileId, int> object, Extent extent, Seconds arrival) {
  const bool writes = direction == Direction::write;
  const double bandwidth = (writes ? parameters_.write_bandwidth : parameters_.read_bandwidth) * share_;
  Seconds duration = writes ? parameters_.write_latency : parameters_.read_latency;
  duration += static_cast<double>(extent.bytes()) / bandwidth;
  if (parameters_.seek > 0) {
    const auto [last, is_new] = ends_.try_emplace(object, extent.begin);
    // Disks of a server get whole pages of its memory: a gap within one is none for them.
    const std::int64_t gap = extent.begin - last->second;
    if (is_new || gap < 0 || gap >= k_memory_page) duration += parameters_.seek;
    last->second = extent.end;
  }
  bytes_ += extent.bytes();
  ++requests_;
  return timetable_.book(arrival, duration).end;
}

Seconds Server::commit(Seconds arrival) {
  if (arrival < last_commit_.asked || arrival > last_commit_.begin) {
    const auto booked = timetable_.book(arrival, parameters_.commit);
    last_commit_ = {arrival, booked.begin, booked.end};
  }
  return last_commit_.end;
}

void Server::forget(FileId file) {
  ends_.erase(ends_.lower_bound({file, 0}), ends_.upper_bound({file, std::numeric_limits<int>::max()}));
}

}  // namespace shoal::lab
