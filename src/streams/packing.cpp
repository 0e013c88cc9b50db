// SPDX-License-Identifier: BSD-3-Clause
#include "streams/packing.hpp"

#include <fmt/core.h>

#include <cmath>

namespace shoal::streams {

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

Packer packer_of(const Encoding& encoding, OutOfRange* counted) {
  Packer out(encoding.type, encoding.fill, encoding.packing.value_or(Packing{}));
  out.count_in(counted);
  return out;
}

}  // namespace shoal::streams
