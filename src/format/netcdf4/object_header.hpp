// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace shoal::netcdf4 {

/// Addresses of the parts (chunks) of an object header of version 2, the one at `address` first; that one
/// alone where the header is an older or an unknown one. read: bytes of the file. Source: HDF5 File Format
/// Specification, version 3.0, IV.A.1.b. Local.
std::vector<std::uint64_t> header_chunks(
    std::uint64_t address,
    const std::function<void(std::uint64_t address, std::span<std::byte> bytes)>& read);

}  // namespace shoal::netcdf4
