// SPDX-License-Identifier: BSD-3-Clause
#include "json.hpp"

#include <cmath>

namespace shoal::bench {

std::string line_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

double rounded(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(value * scale) / scale;
}

}  // namespace shoal::bench
