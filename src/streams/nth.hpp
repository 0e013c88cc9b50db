// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace shoal::streams {

/// items[number], of numbers that are int or std::int64_t here, as -1 is none of them. Local.
template <class Items, class Number>
decltype(auto) nth(Items&& items, Number number) {
  return items[static_cast<std::size_t>(number)];
}

}  // namespace shoal::streams
