// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "model/units.hpp"

namespace shoal::lab {

/// A run of the model, and what arithmetic says of it: a row of the table in docs/design/lab.md.
struct Validation {
  std::string part;
  std::string run;
  std::string arithmetic;  ///< in words
  Seconds expected = 0;
  Seconds model = 0;
};

/// The test fails where the two differ by more than 5 %.
void validate(const Validation& row);

/// All rows so far, as a table of Markdown, in the order of parts.
void print_validations();

}  // namespace shoal::lab
