// SPDX-License-Identifier: BSD-3-Clause
// `lab_tests --validation` prints, behind the tests, the table of docs/design/lab.md.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

#include "validation.hpp"

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int failed = context.run();
  const bool table =
      std::any_of(argv, argv + argc, [](std::string_view word) { return word == "--validation"; });
  if (table) shoal::lab::print_validations();
  return failed;
}
