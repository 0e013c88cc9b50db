// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "codec/packing.hpp"

namespace shoal::streams {

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

/// For values of the encoding, which is packed. Counts in `counted` what does not fit.
Packer packer_of(const Encoding& encoding, OutOfRange* counted);

}  // namespace shoal::streams
