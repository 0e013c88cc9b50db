// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf4/object_header.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace shoal::netcdf4 {

namespace {

constexpr std::size_t k_signature = 4, k_head = 6, k_times = 16, k_phases = 4, k_message = 4;
constexpr unsigned k_width_of_length = 3, k_has_order = 4, k_has_phases = 0x10, k_has_times = 0x20;
constexpr unsigned k_continuation = 0x10;

struct Place {
  std::uint64_t address = 0, size = 0;
};

void for_each_message(std::span<const std::byte> block, std::size_t at, std::size_t head,
                      const HeaderMessage& visit) {
  while (at + head <= block.size()) {
    const auto size = static_cast<std::size_t>(number_at(block, at + 1, 2));
    if (size > block.size() - at - head) return;
    visit(std::to_integer<unsigned>(block[at]), block.subspan(at + head, size));
    at += head + size;
  }
}

}  // namespace

bool walk_object_header(std::uint64_t address, std::span<const std::byte> head, std::uint64_t base,
                        const HeaderBlock& block, const HeaderMessage& message) {
  if (head.size() < k_head) return true;
  if (std::memcmp(head.data(), "OHDR", k_signature) != 0 || head[4] != std::byte{2}) return true;
  const auto flags = std::to_integer<unsigned>(head[5]);
  const std::size_t width = std::size_t{1} << (flags & k_width_of_length);
  const std::size_t at =
      k_head + ((flags & k_has_times) != 0 ? k_times : 0) + ((flags & k_has_phases) != 0 ? k_phases : 0);
  if (head.size() < at + width) return false;
  constexpr auto k_most = std::numeric_limits<std::uint64_t>::max() / 2;
  std::size_t first = at + width;
  std::vector<Place> places{{address, first + std::min(number_at(head, at, width), k_most) + k_checksum}};
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto bytes = block(places[i].address, places[i].size);
    if (bytes.size() < k_checksum) continue;
    for_each_message(bytes.first(bytes.size() - k_checksum), first,
                     (flags & k_has_order) != 0 ? k_message + 2 : k_message,
                     [&](unsigned type, std::span<const std::byte> body) {
                       if (type == k_continuation && body.size() >= 16)
                         places.push_back({base + number_at(body, 0, 8), number_at(body, 8, 8)});
                       else if (message)
                         message(type, body);
                     });
    first = k_signature;  // of the blocks behind the first one
  }
  return true;
}

}  // namespace shoal::netcdf4
