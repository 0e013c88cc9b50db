// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace shoal {

/// SHA-256 as 64 digits. Servers that check signatures compare it with the bytes that came.
std::string sha256_digits(std::span<const std::byte> bytes);
/// MD5 as base64, which a removal of several objects must have; nothing where the system forbids MD5.
std::optional<std::string> md5_base64(std::span<const std::byte> bytes);

/// CRC32C as base64, the more significant byte first.
std::string crc32c_base64(std::span<const std::byte> bytes);

}  // namespace shoal
