// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "streams/time/calendar.hpp"

namespace shoal::streams {

/// What to check, and for which run.
struct CheckRequest {
  std::string configuration;  ///< path
  std::string fields;         ///< path of a file of fields; "": not known
  std::string calendar = "standard";
  std::string start, from, to;  ///< "" of from and to: no run
  std::string step;             ///< "30 min"
  int ranks = 1;
};

/// problems; files with their names, dates, records and bytes; memory of accumulators: docs/tools.md.
/// Error(not_found, invalid_argument): a file that cannot be read, dates that are none. MPI must be started.
nlohmann::ordered_json check(const CheckRequest& request);

}  // namespace shoal::streams
