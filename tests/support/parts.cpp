#include "support/parts.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace shoal::testing {

Part part_of_run() {
  const char* text = std::getenv("TEST_PART");
  if (text == nullptr) return {};
  Part part;
  if (std::sscanf(text, "%zu/%zu", &part.number, &part.of) != 2 || part.number >= part.of)
    throw std::invalid_argument(std::string("TEST_PART=") + text +
                                ": K/N, with K from 0 to N - 1, is needed");
  return part;
}

}  // namespace shoal::testing
