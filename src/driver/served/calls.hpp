// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace shoal {

/// The call in a message of a node leader to its servers. The number of the dataset follows (but for stop),
/// and then the arguments, which ServedDriver packs and serve() unpacks.
enum class Call : std::int32_t {
  make,
  define,
  prepare,
  write,
  read,
  put,
  get,
  refuse,
  match_calls,
  sync,
  submit_pending,
  close,
  counters,
  drop,
  stop
};

}  // namespace shoal
