// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace shoal {

/// What a node leader tells its servers to do. The message goes on with the number of the dataset (but for
/// stop) and with what ServedDriver packs and serve() unpacks for each.
enum class Call : std::int32_t {
  make,
  define,
  prepare,
  write,
  read,
  put,
  get,
  match_calls,
  sync,
  submit_pending,
  close,
  counters,
  drop,
  stop
};

}  // namespace shoal
