// SPDX-License-Identifier: BSD-3-Clause
#include "format/flat/flat_layout.hpp"

#include "base/error.hpp"

namespace shoal {

std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    throw Error(Code::not_supported, "the file would be larger than 2^63 bytes; make the variables smaller");
  return sum;
}

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    throw Error(Code::not_supported, "the file would be larger than 2^63 bytes; make the variables smaller");
  return product;
}

}  // namespace shoal
