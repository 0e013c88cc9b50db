// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/box.hpp"
#include "base/hash.hpp"

namespace shoal {

/// The hash of a call, for its signature.
inline std::uint64_t hash_of_call(int variable, const Box& region) {
  Hash call;
  call.add(static_cast<std::uint64_t>(variable));
  call.add(region);
  return call.value();
}

}  // namespace shoal
