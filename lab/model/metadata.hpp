// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "model/parameters.hpp"
#include "model/timetable.hpp"

namespace shoal::lab {

/// The servers of names and attributes. What is in one folder is on one server.
class Metadata {
 public:
  Metadata(const MetadataParameters& parameters, Seconds network_latency);

  /// When the client has the answer. `folder` chooses the server; `stripes` of the file that is made or
  /// looked at.
  Seconds serve(Operation operation, FileId folder, int stripes, Seconds now);
  std::int64_t requests() const { return requests_; }

 private:
  Seconds duration(Operation operation, int stripes) const;

  MetadataParameters parameters_;
  Seconds network_latency_;
  std::vector<Timetable> servers_;
  std::int64_t requests_ = 0;
};

}  // namespace shoal::lab
