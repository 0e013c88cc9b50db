// SPDX-License-Identifier: BSD-3-Clause
#include "model/transport.hpp"

#include <algorithm>

namespace shoal::lab {

Network::Network(const NetworkParameters& parameters, int clients)
    : parameters_(parameters), links_(static_cast<std::size_t>(clients)) {}

Seconds Network::carry(ClientId client, Direction direction, std::int64_t bytes, Seconds now) {
  const auto amount = static_cast<double>(bytes);
  Timetable& link = links_[static_cast<std::size_t>(client)].to(direction);
  const Timetable::Booking sent = link.book(now, amount / parameters_.client_bandwidth);
  Seconds end = sent.end;
  // Bytes go on while others still leave.
  if (parameters_.total_bandwidth > 0)
    end = std::max(end, shared_.to(direction).book(sent.begin, amount / parameters_.total_bandwidth).end);
  return end + parameters_.latency;
}

Transport::Transport(const Parameters& parameters, int clients, Faults& faults)
    : request_bytes_(parameters.cache.request_bytes), network_(parameters.network, clients), faults_(faults) {
  for (int number = 0; number < parameters.servers.number; ++number)
    servers_.emplace_back(parameters.servers, number);
  for (const StallFault& fault : parameters.faults.stalls)
    if (fault.at_request == 0)
      servers_[static_cast<std::size_t>(fault.server)].stall(fault.at, fault.seconds);
}

void Transport::arrive(int server, ClientId client, Seconds moment) {
  if (const Seconds stalls = faults_.stall(server, client); stalls > 0)
    servers_[static_cast<std::size_t>(server)].stall(moment, stalls);
}

Seconds Transport::request(Direction direction, ClientId client, FileId file, int server, Layout::Part part,
                           Seconds now) {
  const bool writes = direction == Direction::write;
  const Seconds arrival =
      writes ? network_.carry(client, direction, part.extent.bytes(), now) : now + network_.latency();
  arrive(server, client, arrival);
  const Seconds served =
      servers_[static_cast<std::size_t>(server)].serve(direction, {file, part.object}, part.extent, arrival);
  return writes ? served + network_.latency()
                : network_.carry(client, direction, part.extent.bytes(), served);
}

Seconds Transport::move(Direction direction, ClientId client, FileId file, const Layout& layout,
                        Layout::Part part, Seconds now) {
  const int server = layout.server(part.object, static_cast<int>(servers_.size()));
  Seconds done = now;
  for (std::int64_t at = part.extent.begin; at < part.extent.end;) {
    const std::int64_t end = std::min(part.extent.end, (at / request_bytes_ + 1) * request_bytes_);
    done = std::max(done, request(direction, client, file, server, {part.object, {at, end}}, now));
    at = end;
  }
  return done;
}

Seconds Transport::commit(const Layout& layout, int object, Seconds now) {
  const int server = layout.server(object, static_cast<int>(servers_.size()));
  arrive(server, -1, now + latency());
  return servers_[static_cast<std::size_t>(server)].commit(now + latency()) + latency();
}

void Transport::forget(FileId file) {
  for (Server& server : servers_)
    server.forget(file);
}

}  // namespace shoal::lab
