// SPDX-License-Identifier: BSD-3-Clause
// Chunks whose length is known once they are decoded: texts of any length.
#include <algorithm>
#include <cstring>

#include "codec/damage.hpp"
#include "codec/deflate.hpp"
#include "codec/filters.hpp"

namespace shoal {

namespace {

// What a damaged length says must not take memory: no more than a codec makes of so few bytes.
constexpr std::size_t k_most_of_deflate = 1032;
constexpr std::size_t k_most_of_lz4 = 255;
constexpr std::size_t k_most_of_blosc = 16384;
constexpr std::size_t k_least_room = 65536;

std::uint32_t number_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t number = 0;
  if (at + sizeof number > bytes.size()) throw damaged("it is shorter than the head of its codec");
  for (std::size_t i = sizeof number; i-- > 0;)
    number = number << 8 | std::to_integer<std::uint32_t>(bytes[at + i]);
  return number;
}

std::size_t checked(std::size_t length, std::size_t stored, std::size_t most) {
  if (length > k_least_room + stored * most) throw damaged("it says that it is far longer than it can be");
  return length;
}

std::size_t without_checksum(std::size_t stored) {
  if (stored < sizeof(std::uint32_t)) throw damaged("it is shorter than its checksum");
  return stored - sizeof(std::uint32_t);
}

std::size_t length_of(const Filter& filter, std::span<const std::byte> stored) {
  constexpr std::size_t k_length_in_blosc = 4;
  switch (filter.id) {
    case Filter::blosc:
      return checked(number_at(stored, k_length_in_blosc), stored.size(), k_most_of_blosc);
    case Filter::lz4:
      return checked(number_at(stored, 0), stored.size(), k_most_of_lz4);
    case Filter::gzip:  // at its end
      return checked(number_at(stored, without_checksum(stored.size())), stored.size(), k_most_of_deflate);
    case Filter::fletcher32:
    case Filter::crc32c:
      return without_checksum(stored.size());
    default:
      return stored.size();
  }
}

std::vector<std::byte> decoded(const Filter& filter, std::span<const std::byte> stored) {
  if (filter.id == Filter::zstd) return unzstd(stored);
#ifdef SHOAL_HAVE_LIBDEFLATE
  if (filter.id == Filter::deflate) {
    Deflate deflate;
    for (std::size_t room = k_least_room; room < k_least_room + 2 * stored.size() * k_most_of_deflate;
         room *= 2)
      if (auto bytes = deflate.decompress_up_to(stored, room)) return *std::move(bytes);
    throw damaged("it is no stream of zlib");
  }
#endif
  std::vector<std::byte> bytes(length_of(filter, stored));
  ChunkCoder({filter}, 1).decode({stored, 0}, bytes);
  return bytes;
}

}  // namespace

std::vector<std::byte> decode_any_length(const Filters& filters, std::span<const std::byte> stored) {
  std::vector<std::byte> bytes(stored.begin(), stored.end());
  for (auto filter = filters.rbegin(); filter != filters.rend(); ++filter)
    bytes = decoded(*filter, bytes);
  return bytes;
}

}  // namespace shoal
