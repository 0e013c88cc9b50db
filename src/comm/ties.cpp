// SPDX-License-Identifier: BSD-3-Clause
#include "comm/ties.hpp"

#include <array>
#include <cstdio>

namespace shoal {

Status timeout_status(double seconds, const std::string& call, const std::string& missing) {
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%g", seconds);
  return {Code::timeout,
          std::string("waited ") + number.data() + " s" + (call.empty() ? "" : " in " + call) + " for " +
              missing +
              "; every rank must make the same calls in the same order. If it is only slow, set wait_seconds "
              "higher. Ranks wait no more for each other here",
          -1,
          {},
          {}};
}

}  // namespace shoal
