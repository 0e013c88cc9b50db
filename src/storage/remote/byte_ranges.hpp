// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace shoal {

/// A set of bytes, as ranges [begin, end) that do not touch.
class ByteRanges {
 public:
  void add(std::uint64_t begin, std::uint64_t end);
  /// Takes out all from here on.
  void cut(std::uint64_t begin);
  /// The ranges of [begin, end) that are not in the set.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps(std::uint64_t begin, std::uint64_t end) const;

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // end by begin
};

}  // namespace shoal
