// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "format/netcdf4/netcdf4_catalog.hpp"

namespace shoal::netcdf4 {

template <class Work>
auto Netcdf4Catalog::guarded(int variable, Work&& work) const {
  const QuietErrors quiet;
  try {
    return work();
  } catch (const Error&) {
    rethrow(variable);
  }
}

}  // namespace shoal::netcdf4
