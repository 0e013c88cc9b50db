// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/type.hpp"

namespace shoal::streams {

/// Values as whole numbers of a few bytes, as CF packs them: value = packed * scale_factor + add_offset.
struct Packing {
  double scale_factor = 1, add_offset = 0;
  bool operator==(const Packing&) const = default;
};

/// How a variable of a file has its values.
struct Encoding {
  Type type = Type::double_;
  double fill = 0;                 ///< of cells without a value, as the type holds it
  std::optional<Packing> packing;  ///< into numbers of the type
  bool operator==(const Encoding& other) const;
};
/// "short with scale_factor 0.01 and add_offset 0"; "float".
std::string text_of(const Encoding& encoding);

bool is_floating(Type type);
/// Equal, or both NaN.
bool is_same_number(double a, double b);
/// Has the type numbers to pack into: whole ones of 1, 2 or 4 bytes?
bool packs_into(Type type);

/// Values that did not fit, of one rank or of all.
struct Unpackable {
  std::int64_t count = 0;
  double lowest = 0, highest = 0;  ///< of them, if there are some

  void add(const Unpackable& more);
};

/// Values in place, to the nearest packed one; NaN, and what does not fit the type, becomes the fill value,
/// which is the lowest but one or the highest number of the type and stands for no value. Local.
Unpackable pack(double* values, std::int64_t n, const Encoding& encoding);
/// Which values fit: "-307.66 to 347.67".
std::string range_text(const Encoding& encoding);

}  // namespace shoal::streams
