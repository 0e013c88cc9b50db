// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "storage/store.hpp"

namespace shoal {

/// What a faulty store does wrong; for tests of what happens when disks fail.
struct Fault {
  std::string operation = "write";  ///< "open", "write", "read", "sync", "resize" or "close"
  std::int64_t after = 0;           ///< the first that many calls of the operation succeed
  std::int64_t times = 1;           ///< then that many fail; -1: all that follow
  int error_number = 28;            ///< errno, ENOSPC unless said otherwise
};

/// An opener whose stores are those of inner but for the fault. Calls are counted over all stores it opens.
StoreOpener with_fault(StoreOpener inner, Fault fault);

}  // namespace shoal
