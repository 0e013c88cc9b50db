// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace shoal {

/// Castagnoli's checksum (RFC 3720), by the machine's instruction for it where there is one. Local.
std::uint32_t crc32c(std::span<const std::byte> bytes);
/// The same on any machine.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes);

}  // namespace shoal
