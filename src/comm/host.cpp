// SPDX-License-Identifier: BSD-3-Clause
#include "comm/host.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace shoal {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

int cores_of_host() {
  return static_cast<int>(std::max(0L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace shoal
