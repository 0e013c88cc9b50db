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
std::pair<double, double> packed_range(const Encoding& encoding) {
  return with_number(encoding.type, [&](auto number) -> std::pair<double, double> {
    using T = decltype(number);
    const double fill = encoding.fill;
    if (fill > 0) return {static_cast<double>(std::numeric_limits<T>::lowest()), fill - 1};
    return {fill + 1, static_cast<double>(std::numeric_limits<T>::max())};
  });
}

}  // namespace

bool Encoding::operator==(const Encoding& other) const {
  return type == other.type && is_same_number(fill, other.fill) && packing == other.packing;
}

std::string text_of(const Encoding& encoding) {
  const auto& packing = encoding.packing;
  if (!packing) return name_of(encoding.type);
  return fmt::format("{} with scale_factor {} and add_offset {}", name_of(encoding.type),
                     packing->scale_factor, packing->add_offset);
}

bool is_floating(Type type) {
  return type == Type::float_ || type == Type::double_;
}

bool is_same_number(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

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

void Unpackable::add(const Unpackable& more) {
  if (more.count == 0) return;
  lowest = count == 0 ? more.lowest : std::min(lowest, more.lowest);
  highest = count == 0 ? more.highest : std::max(highest, more.highest);
  count += more.count;
}

Unpackable pack(double* values, std::int64_t n, const Encoding& encoding) {
  const auto [low, high] = packed_range(encoding);
  const Packing packing = encoding.packing.value_or(Packing{});
  Unpackable out;
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = values[i];
    const double packed = std::nearbyint((value - packing.add_offset) / packing.scale_factor);
    if (packed >= low && packed <= high) {
      values[i] = packed;
      continue;
    }
    values[i] = encoding.fill;
    if (std::isnan(value)) continue;
    out.lowest = out.count == 0 ? value : std::min(out.lowest, value);
    out.highest = out.count == 0 ? value : std::max(out.highest, value);
    ++out.count;
  }
  return out;
}

std::string range_text(const Encoding& encoding) {
  const auto [low, high] = packed_range(encoding);
  const Packing packing = encoding.packing.value_or(Packing{});
  const double a = low * packing.scale_factor + packing.add_offset,
               b = high * packing.scale_factor + packing.add_offset;
  return fmt::format("{} to {}", std::min(a, b), std::max(a, b));
}

}  // namespace shoal::streams
