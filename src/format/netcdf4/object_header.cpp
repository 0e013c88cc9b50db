// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf4/object_header.hpp"

#include <cstring>

#include "base/bytes.hpp"

namespace shoal::netcdf4 {

namespace {

constexpr std::size_t k_most_chunks = 1000;  // a damaged header may have a circle
constexpr std::uint64_t k_most_bytes = 1 << 20;

// Little-endian.
std::uint64_t number(std::span<const std::byte> bytes) {
  std::uint64_t n = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    n = n << 8U | std::to_integer<std::uint64_t>(bytes[i]);
  return n;
}

struct Chunk {
  std::uint64_t address = 0, bytes = 0;
};

// Where messages say that the header goes on.
void find_continuations(std::span<const std::byte> messages, bool has_order, std::vector<Chunk>& out) {
  constexpr std::byte k_continuation{0x10};
  const std::size_t head = has_order ? 6 : 4;
  while (messages.size() >= head) {
    const std::byte type = messages[0];
    const auto size = static_cast<std::size_t>(number(messages.subspan(1, 2)));
    messages = messages.subspan(head);
    if (messages.size() < size) return;
    if (type == k_continuation && size == 16)
      out.push_back({number(messages.first(8)), number(messages.subspan(8, 8))});
    messages = messages.subspan(size);
  }
}

}  // namespace

std::vector<std::uint64_t> header_chunks(
    std::uint64_t address,
    const std::function<void(std::uint64_t address, std::span<std::byte> bytes)>& read) {
  constexpr std::uint64_t k_signature = 4, k_checksum = 4;
  Bytes prefix(34);
  read(address, prefix);
  if (std::memcmp(prefix.data(), "OHDR", k_signature) != 0 || prefix[4] != std::byte{2}) return {address};
  const unsigned flags = std::to_integer<unsigned>(prefix[5]);
  const bool has_order = (flags & 0x04U) != 0;
  const std::size_t size_at = 6 + ((flags & 0x20U) != 0 ? 16 : 0) + ((flags & 0x10U) != 0 ? 4 : 0);
  const std::size_t size_bytes = std::size_t{1} << (flags & 3U);
  const std::span<const std::byte> all(prefix);
  std::vector<Chunk> chunks{{address + size_at + size_bytes, number(all.subspan(size_at, size_bytes))}};
  std::vector<std::uint64_t> addresses{address};
  Bytes messages;
  for (std::size_t i = 0; i < chunks.size() && i < k_most_chunks; ++i) {
    Chunk chunk = chunks[i];
    if (i > 0) {
      addresses.push_back(chunk.address);
      if (chunk.bytes < k_signature + k_checksum) continue;
      chunk = {chunk.address + k_signature, chunk.bytes - k_signature - k_checksum};
    }
    if (chunk.bytes > k_most_bytes) continue;
    messages.resize(chunk.bytes);
    read(chunk.address, messages);
    find_continuations(messages, has_order, chunks);
  }
  return addresses;
}

}  // namespace shoal::netcdf4
