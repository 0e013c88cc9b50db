// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "base/bytes.hpp"
#include "codec/convert.hpp"
#include "format/schema.hpp"

namespace shoal {

inline void swap_to_or_from_file(std::span<std::byte> bytes, std::size_t size) {
  if (size > 1 && !machine_is_big_endian())
    swap_bytes(bytes.data(), size, static_cast<std::int64_t>(bytes.size() / size));
}

/// The fill value of the variable as it is in the file.
inline Bytes fill_in_file(const VariableDef& variable) {
  Bytes fill = fill_of(variable);
  swap_to_or_from_file(fill, fill.size());
  return fill;
}

/// Copies of pattern; the first byte is byte `phase` of it.
inline void fill_with(std::span<std::byte> bytes, std::span<const std::byte> pattern, std::size_t phase) {
  std::size_t done = std::min(bytes.size(), pattern.size());
  for (std::size_t i = 0; i < done; ++i)
    bytes[i] = pattern[(phase + i) % pattern.size()];
  while (done < bytes.size()) {
    const std::size_t n = std::min(done, bytes.size() - done);
    std::memcpy(bytes.data() + done, bytes.data(), n);
    done += n;
  }
}

}  // namespace shoal
