// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>

#include "base/box.hpp"

namespace shoal {

/// A box as libraries want it, in integers of theirs; scalars, too, have addresses.
template <class Int>
struct LibrarySection {
  explicit LibrarySection(const Box& box) {
    std::copy(box.first.begin(), box.first.end(), start.begin());
    std::copy(box.count.begin(), box.count.end(), count.begin());
  }
  std::array<Int, k_max_dims> start{}, count{};
};

}  // namespace shoal
