// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace shoal::netcdf4 {

constexpr std::size_t k_checksum = 4;  ///< bytes of one, behind what it is of

/// The number of so many bytes at bytes[at], little-endian. Local.
inline std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  std::uint64_t n = 0;
  for (std::size_t i = size; i-- > 0;)
    n = n << 8U | std::to_integer<std::uint64_t>(bytes[at + i]);
  return n;
}

/// The whole bytes of a block of a header; they stay until the next call.
using HeaderBlock = std::function<std::span<const std::byte>(std::uint64_t address, std::uint64_t size)>;

/// Of a message of a header: its number, and what it says.
using HeaderMessage = std::function<void(unsigned type, std::span<const std::byte> body)>;

/// The blocks of an object's header of version 2: asks `block` for each, the first one at `address` first,
/// and finds in them where the header goes on. head: the first bytes at `address`. base: to be added to
/// addresses in the file. False: head is too short. Nothing is done for other headers. Source: HDF5 File
/// Format Specification, version 3.0, IV.A.1.b. message: gets the messages of each block. Local.
bool walk_object_header(std::uint64_t address, std::span<const std::byte> head, std::uint64_t base,
                        const HeaderBlock& block, const HeaderMessage& message = {});

}  // namespace shoal::netcdf4
