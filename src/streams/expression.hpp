// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace shoal::streams {

/// "sqrt(u**2 + v**2)": a formula of names, compiled once, for many cells. Immutable.
class Expression {
 public:
  /// Error(setting): it cannot be read; Error(not_supported): built without muParser.
  static std::shared_ptr<const Expression> parse(const std::string& text);
  virtual ~Expression() = default;
  virtual const std::vector<std::string>& names() const = 0;  ///< in the order in which values are given
  /// values: for each name n numbers. Local.
  virtual void evaluate(const std::vector<const double*>& values, std::int64_t n, double* out) const = 0;
};

}  // namespace shoal::streams
