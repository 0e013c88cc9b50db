// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "driver/options.hpp"

namespace shoal {

/// Bytes of a field that rank 0 collects and writes at a time; counts of MPI are int.
inline std::int64_t gather_slab_bytes(const StageOptions& options) {
  constexpr std::int64_t k_default = 16 * 1024 * 1024;
  constexpr std::int64_t k_most = 1024 * 1024 * 1024;
  return options.whole ? std::min(options.bytes / 2, k_most) : k_default;
}

}  // namespace shoal
