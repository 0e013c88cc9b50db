// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace shoal::bench {

/// A field that the model of experiment streams works out of its state in each step.
struct DerivedField {
  enum class From { bottom, surface, volume };
  const char* name;
  const char* of;  ///< a field of the state on the grid of rho points
  From from;       ///< which of its levels
  bool squared;
};
const std::vector<DerivedField>& derived_fields();

}  // namespace shoal::bench
