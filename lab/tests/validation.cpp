// SPDX-License-Identifier: BSD-3-Clause
#include "validation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "plain.hpp"

namespace shoal::lab {
namespace {

constexpr double k_tolerance = 0.05;

std::vector<Validation>& rows() {
  static std::vector<Validation> all;
  return all;
}

double difference(const Validation& row) {
  return std::abs(row.model / row.expected - 1);
}

// Below this it is rounding, of which compilers may have more or less.
std::string in_percent(double part) {
  return part < 1e-6 ? "0" : fmt::format("{:.2g} %", 100 * part);
}

}  // namespace

void validate(const Validation& row) {
  CAPTURE(row.run);
  CAPTURE(row.expected);
  CAPTURE(row.model);
  CHECK(difference(row) <= k_tolerance);
  rows().push_back(row);
}

void print_validations() {
  std::stable_sort(rows().begin(), rows().end(),
                   [](const Validation& a, const Validation& b) { return a.part < b.part; });
  fmt::print(
      "| part | run | arithmetic | s, arithmetic | s, model | difference |\n|---|---|---|---|---|---|\n");
  for (const Validation& row : rows())
    fmt::print("| `{}` | {} | {} | {:.4g} | {:.4g} | {} |\n", row.part, row.run, row.arithmetic, row.expected,
               row.model, in_percent(difference(row)));
}

}  // namespace shoal::lab
