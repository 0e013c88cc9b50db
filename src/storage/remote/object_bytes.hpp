// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

namespace shoal {

/// The bytes of an object that is put together in memory. They grow in place where the system can do that, so
/// that a shard does not need its space twice.
class ObjectBytes {
 public:
  std::uint64_t size() const { return size_; }
  std::span<std::byte> bytes() { return {memory_.get(), static_cast<std::size_t>(size_)}; }
  /// New bytes are zero but for those from `unset` on. Error(no_space, no_memory).
  void resize(std::uint64_t size, std::uint64_t unset);
  void clear();

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::uint64_t size_ = 0;
  std::uint64_t capacity_ = 0;
};

}  // namespace shoal
