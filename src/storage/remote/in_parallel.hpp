// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>

namespace shoal {

/// Does work(0) to work(count - 1), in so many threads at most, one of which is the caller's. After an
/// exception no more is begun; the first one comes out when all threads have ended.
void in_parallel(std::size_t count, std::size_t most, const std::function<void(std::size_t)>& work);

}  // namespace shoal
