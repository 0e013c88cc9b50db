// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace shoal::netcdf4 {

/// The checksum of HDF5's metadata: Bob Jenkins' hash "lookup3" (hashlittle), start value 0. Local.
std::uint32_t checksum(std::span<const std::byte> bytes);

}  // namespace shoal::netcdf4
