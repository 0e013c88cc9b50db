// SPDX-License-Identifier: BSD-3-Clause
#include "shoal_check.hpp"

namespace shoal::bench {

void check_shoal(int code, const std::string& what) {
  if (code == SHOAL_OK) return;
  const std::string message = shoal_error_message();
  if (code == SHOAL_SETTING || code == SHOAL_NOT_SUPPORTED) throw Refused(message);
  throw std::runtime_error("Shoal: " + what + ": " + message);
}

}  // namespace shoal::bench
