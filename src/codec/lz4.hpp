// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef SHOAL_HAVE_LZ4
#include <cstddef>
#include <span>

namespace shoal {

/// Bytes by LZ4 as numcodecs frames them: their number in 4 bytes, little endian, then one block of LZ4.
std::size_t lz4_bound(std::size_t bytes);
/// `to` has room for lz4_bound. Returns the bytes there. Local.
std::size_t lz4_encode(std::span<const std::byte> bytes, std::byte* to);
/// Fills `to`. Error(format): damaged, or another number of bytes. Local.
void lz4_decode(std::span<const std::byte> bytes, std::span<std::byte> to);
/// "1.9.4".
const char* lz4_version();

}  // namespace shoal
#endif
