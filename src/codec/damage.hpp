// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "base/error.hpp"

namespace shoal {

/// Of a chunk that cannot be what was stored.
inline Error damaged(const std::string& how) {
  return {Code::format, "a chunk is damaged: " + how};
}

}  // namespace shoal
