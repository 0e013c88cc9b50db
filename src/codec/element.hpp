// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/type.hpp"

namespace shoal {

class Packer;

/// How elements lie somewhere: in the model's array, in a stage, in a file.
struct Element {
  Type type = Type::none;
  std::size_t size = 0;  ///< bytes of one element
  bool swapped = false;  ///< byte order other than this machine's
  /// Numbers that are values, which this packs for the other side; nullptr: numbers as they are.
  const Packer* packer = nullptr;

  friend bool operator==(const Element&, const Element&) = default;
};

/// Values that did not fit the target type.
struct ConversionErrors {
  std::int64_t count = 0;
  std::int64_t first = -1;  ///< row-major position of the first one in the box that was copied

  void merge(const ConversionErrors& later, std::int64_t offset) {
    if (first < 0 && later.first >= 0) first = later.first + offset;
    count += later.count;
  }
};

}  // namespace shoal
