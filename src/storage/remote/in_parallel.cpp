// SPDX-License-Identifier: BSD-3-Clause
#include "storage/remote/in_parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace shoal {

void in_parallel(std::size_t count, std::size_t most, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr first;
  const auto run = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++)
        work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    }
  };
  std::vector<std::jthread> helpers;
  const std::size_t threads = std::min(count, std::max<std::size_t>(most, 1));
  helpers.reserve(threads);
  try {
    while (helpers.size() + 1 < threads)
      helpers.emplace_back(run);
  } catch (const std::system_error&) {  // the system has no more: fewer do it all
  }
  run();
  helpers.clear();  // waits
  if (first) std::rethrow_exception(first);
}

}  // namespace shoal
