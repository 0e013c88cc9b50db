// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace shoal {

/// No bytes there yet: reads as the fill value.
inline constexpr std::uint64_t k_unplaced = ~std::uint64_t{0};

/// Where bytes lie in a container: in which of its objects, and at which offset. A file has one object, 0.
struct Location {
  std::uint64_t object = 0;  ///< a number that the format gives (FormatTraits::object_name)
  std::uint64_t offset = 0;  ///< k_unplaced: nowhere yet

  constexpr Location() = default;
  /// No aggregate: the numbers of a struct around it would be taken for its own where braces are left out.
  constexpr Location(std::uint64_t in_object, std::uint64_t at) : object(in_object), offset(at) {}

  bool is_placed() const { return offset != k_unplaced; }
  /// So many bytes behind this one, in the same object.
  Location operator+(std::int64_t bytes) const {
    return {object, offset + static_cast<std::uint64_t>(bytes)};
  }
  friend bool operator==(const Location&, const Location&) = default;
};

inline constexpr Location k_nowhere{0, k_unplaced};

}  // namespace shoal

template <>
struct std::hash<shoal::Location> {
  std::size_t operator()(const shoal::Location& at) const noexcept {
    return std::hash<std::uint64_t>{}(at.offset ^ (at.object << 40U) ^ (at.object >> 24U));
  }
};
