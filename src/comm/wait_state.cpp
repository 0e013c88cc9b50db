// SPDX-License-Identifier: BSD-3-Clause
#include "comm/wait_state.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdio>

namespace shoal {

Status timeout_status(double seconds, const std::string& call, const std::string& missing) {
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%g", seconds);
  return {Code::timeout,
          fmt::format("waited {} s{} for {}; every rank must make the same calls in the same order. If it is "
                      "only slow, set wait_seconds higher. Ranks wait no more for each other here",
                      number.data(), call.empty() ? "" : " in " + call, missing)};
}

}  // namespace shoal
