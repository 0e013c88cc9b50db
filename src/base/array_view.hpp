// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "base/box.hpp"
#include "base/type.hpp"

namespace shoal {

class Packer;

/// An array in somebody else's memory, of any strides. Owns nothing.
struct ArrayView {
  std::byte* data = nullptr;  ///< the element with all indices 0
  Type type = Type::none;
  std::size_t element_size = 0;  ///< bytes; differs from size_of(type) for logical only
  Dims extents;
  Dims strides;  ///< bytes from one element to the next, may be negative
  /// The elements are values, of a variable that is packed by this; nullptr: numbers as they are.
  const Packer* packer = nullptr;

  /// A contiguous row-major array.
  static ArrayView contiguous(void* data, Type type, const Dims& extents);
  /// The cells of box (in this view's own 0-based indices) as a view.
  ArrayView part(const Box& box) const;
};

inline ArrayView ArrayView::contiguous(void* data, Type type, const Dims& extents) {
  return {static_cast<std::byte*>(data), type, size_of(type), extents, byte_strides(extents, size_of(type))};
}

inline ArrayView ArrayView::part(const Box& box) const {
  ArrayView view = *this;
  for (int d = 0; d < box.rank(); ++d)
    view.data += box.first[d] * strides[d];
  view.extents = box.count;
  return view;
}

}  // namespace shoal
