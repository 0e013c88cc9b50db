// SPDX-License-Identifier: BSD-3-Clause
// In a file of its own, since plugins have it, too.
#include "method.hpp"

namespace shoal::bench {

Info::Info(const KeyValues& hints) {
  if (hints.empty()) return;
  MPI_Info_create(&info_);
  for (const auto& [key, value] : hints)
    MPI_Info_set(info_, key.c_str(), value.c_str());
}

Info::~Info() {
  if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
}

}  // namespace shoal::bench
