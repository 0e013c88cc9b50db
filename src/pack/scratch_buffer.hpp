// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>

namespace shoal {

/// Memory that is used again and again, and never cleared.
class ScratchBuffer {
 public:
  std::byte* of(std::integral auto n) {
    const auto bytes = static_cast<std::size_t>(n);
    if (bytes > bytes_) {
      memory_.reset();
      bytes_ = 0;
      memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      bytes_ = bytes;
    }
    return memory_.get();
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace shoal
