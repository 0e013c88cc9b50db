// SPDX-License-Identifier: BSD-3-Clause
#include "streams/packing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace shoal::streams {

namespace {

/// The packed numbers that stand for values: those on the longer side of the fill value.
std::pair<double, double> packed_range(Type type, double fill) {
  return with_number(type, [&](auto number) -> std::pair<double, double> {
    using T = decltype(number);
    if (fill > 0) return {static_cast<double>(std::numeric_limits<T>::lowest()), fill - 1};
    return {fill + 1, static_cast<double>(std::numeric_limits<T>::max())};
  });
}

}  // namespace

bool packs_into(Type type) {
  switch (type) {
    case Type::byte_:
    case Type::ubyte:
    case Type::short_:
    case Type::ushort:
    case Type::int_:
    case Type::uint:
      return true;
    default:
      return false;
  }
}

Unpackable pack(double* values, std::int64_t n, const Packing& packing, Type type, double fill) {
  const auto [low, high] = packed_range(type, fill);
  Unpackable out;
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = values[i];
    const double packed = std::nearbyint((value - packing.add_offset) / packing.scale_factor);
    if (packed >= low && packed <= high) {
      values[i] = packed;
      continue;
    }
    values[i] = fill;
    if (std::isnan(value)) continue;
    out.lowest = out.count == 0 ? value : std::min(out.lowest, value);
    out.highest = out.count == 0 ? value : std::max(out.highest, value);
    ++out.count;
  }
  return out;
}

std::string range_text(const Packing& packing, Type type, double fill) {
  const auto [low, high] = packed_range(type, fill);
  const double a = low * packing.scale_factor + packing.add_offset,
               b = high * packing.scale_factor + packing.add_offset;
  return fmt::format("{} to {}", std::min(a, b), std::max(a, b));
}

}  // namespace shoal::streams
