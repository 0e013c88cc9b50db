// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "json.hpp"

namespace shoal::bench {

/// A process of Python beside a rank (shoal_bench.zarr_worker), which calls libraries that have no C
/// interface. It does one thing at a time, as it is asked, on values in memory that both share: a message
/// costs some 50 microseconds, and no value is copied for it.
class PythonWorker {
 public:
  /// Starts it. What keeps it from starting is said by the first ask.
  explicit PythonWorker(std::size_t shared_bytes);
  ~PythonWorker();
  PythonWorker(const PythonWorker&) = delete;
  PythonWorker& operator=(const PythonWorker&) = delete;

  std::byte* shared() { return shared_; }
  std::size_t shared_bytes() const { return bytes_; }
  /// Waits for the answer; std::runtime_error in the words of the library that failed.
  void ask(const Json& request);

 private:
  [[noreturn]] void ended() const;

  std::string python_;
  std::size_t bytes_;
  std::byte* shared_ = nullptr;
  int socket_ = -1;
  pid_t process_ = -1;
};

}  // namespace shoal::bench
