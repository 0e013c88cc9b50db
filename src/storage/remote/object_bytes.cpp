// SPDX-License-Identifier: BSD-3-Clause
#include "storage/remote/object_bytes.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/text.hpp"

namespace shoal {

namespace {

constexpr std::uint64_t k_largest_object = std::uint64_t{5} << 40;  // of S3

}  // namespace

void ObjectBytes::resize(std::uint64_t size, std::uint64_t unset) {
  if (size > k_largest_object)
    throw Error(Code::no_space, "an object on a server has {} at most, and this one would have {}",
                bytes_text(static_cast<double>(k_largest_object)), bytes_text(static_cast<double>(size)));
  if (size > capacity_) {
    const std::uint64_t larger = std::max(size, capacity_ + capacity_ / 2);
    void* memory = std::realloc(memory_.get(), larger);
    if (memory == nullptr)
      throw Error(Code::no_memory,
                  "{} do not fit into memory, where an object is put together before it is stored: choose a "
                  "smaller shard_bytes",
                  bytes_text(static_cast<double>(size)));
    static_cast<void>(memory_.release());  // realloc has taken it
    memory_.reset(static_cast<std::byte*>(memory));
    capacity_ = larger;
  }
  if (const std::uint64_t end = std::min(size, unset); end > size_)
    std::memset(memory_.get() + size_, 0, end - size_);
  size_ = size;
}

void ObjectBytes::clear() {
  memory_.reset();
  size_ = capacity_ = 0;
}

}  // namespace shoal
