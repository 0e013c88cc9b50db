// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "driver/options.hpp"

namespace shoal {

/// The most bytes of messages that a rank has under way.
inline std::int64_t rearrange_bytes(const StageOptions& options) {
  constexpr std::int64_t k_rearrange_bytes = 64 * 1024 * 1024;
  return options.whole ? std::min(k_rearrange_bytes, options.bytes) : k_rearrange_bytes;
}

/// The bytes of the window that a node's ranks share for messages to other nodes, and the most bytes of
/// messages that an I/O rank waits for.
inline std::int64_t window_bytes(const StageOptions& options) {
  return rearrange_bytes(options) / 4;
}

}  // namespace shoal
