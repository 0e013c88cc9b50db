// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "model/units.hpp"

namespace shoal::lab {

/// What the kernel hands over at a time.
inline constexpr std::int64_t k_largest_request = 1 << 20;

/// The kernel cuts a long write of a program into requests of 256 pages of the program's memory. Where that
/// memory begins within a page, or the write within one of the file, requests end within pages of the file,
/// and no client would write such a page in two parts. What a largest request has of its last page counts
/// with the next one.
class CutCall {
 public:
  /// The parts of what is written that count now, in this order; either may be empty.
  std::pair<Extent, Extent> add(Extent request) {
    Extent before = rest();
    if (!before.empty() && before.end == request.begin) request.begin = std::exchange(before, {}).begin;
    const std::int64_t in_page = request.end % k_memory_page;
    if (request.bytes() > k_largest_request - k_memory_page && in_page > 0) {
      waiting_ = {request.end - in_page, request.end};
      request.end -= in_page;
    }
    return {before, request};
  }
  /// What has not counted yet; it counts now.
  Extent rest() { return std::exchange(waiting_, {}); }

 private:
  Extent waiting_;
};

}  // namespace shoal::lab
