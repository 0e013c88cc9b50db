// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf4/checksum.hpp"

#include <bit>
#include <cstring>

namespace shoal::netcdf4 {

std::uint32_t checksum(std::span<const std::byte> bytes) {
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    if constexpr (std::endian::native == std::endian::little) {
      if (at + sizeof value <= bytes.size()) {
        std::memcpy(&value, bytes.data() + at, sizeof value);
        return value;
      }
    }
    for (std::size_t i = 0; i < 4 && at + i < bytes.size(); ++i)
      value |= std::to_integer<std::uint32_t>(bytes[at + i]) << (8 * i);
    return value;
  };
  std::uint32_t a = 0xdeadbeefU + static_cast<std::uint32_t>(bytes.size()), b = a, c = a;
  std::size_t at = 0;
  for (; bytes.size() - at > 12; at += 12) {
    a += word(at), b += word(at + 4), c += word(at + 8);
    a -= c, a ^= std::rotl(c, 4), c += b;
    b -= a, b ^= std::rotl(a, 6), a += c;
    c -= b, c ^= std::rotl(b, 8), b += a;
    a -= c, a ^= std::rotl(c, 16), c += b;
    b -= a, b ^= std::rotl(a, 19), a += c;
    c -= b, c ^= std::rotl(b, 4), b += a;
  }
  if (at == bytes.size()) return c;
  a += word(at), b += word(at + 4), c += word(at + 8);
  c ^= b, c -= std::rotl(b, 14);
  a ^= c, a -= std::rotl(c, 11);
  b ^= a, b -= std::rotl(a, 25);
  c ^= b, c -= std::rotl(b, 16);
  a ^= c, a -= std::rotl(c, 4);
  b ^= a, b -= std::rotl(a, 14);
  c ^= b, c -= std::rotl(b, 24);
  return c;
}

}  // namespace shoal::netcdf4
