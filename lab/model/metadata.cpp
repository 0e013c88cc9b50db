// SPDX-License-Identifier: BSD-3-Clause
#include "model/metadata.hpp"

namespace shoal::lab {

Metadata::Metadata(const MetadataParameters& parameters, Seconds network_latency)
    : parameters_(parameters),
      network_latency_(network_latency),
      servers_(static_cast<std::size_t>(parameters.servers)) {}

Seconds Metadata::duration(Operation operation, int stripes) const {
  switch (operation) {
    case Operation::open:
      return parameters_.open;
    case Operation::create:
      return parameters_.create + stripes * parameters_.create_stripe;
    case Operation::stat:
      return parameters_.stat + stripes * parameters_.stat_stripe;
    case Operation::rename:
      return parameters_.rename;
    case Operation::remove:
      return parameters_.remove;
    case Operation::mkdir:
      return parameters_.mkdir;
    case Operation::readdir:
      return parameters_.readdir;
    case Operation::truncate:
      return parameters_.truncate;
    case Operation::fsync:
      return parameters_.fsync;
    case Operation::close:
      return parameters_.close;
    case Operation::lock:
      return parameters_.lock;
    case Operation::read:
    case Operation::write:
      break;  // of data servers alone
  }
  return 0;
}

Seconds Metadata::serve(Operation operation, FileId folder, int stripes, Seconds now) {
  ++requests_;
  Timetable& server = servers_[folder % servers_.size()];
  const Seconds served = server.book(now + network_latency_, duration(operation, stripes)).end;
  return served + parameters_.latency + network_latency_;
}

}  // namespace shoal::lab
