// SPDX-License-Identifier: BSD-3-Clause
#include "mount/lustre_attribute.hpp"

#include <cstdint>
#include <cstring>

namespace shoal::lab {
namespace {

constexpr std::uint32_t k_magic_1 = 0x0BD10BD0;
constexpr std::uint32_t k_magic_3 = 0x0BD30BD0;
constexpr std::uint32_t k_raid0 = 1;
constexpr std::uint16_t k_any_server = 0xFFFF;
constexpr std::size_t k_pool_name = 16;  // behind the head of version 3

// As on the wire: no padding, little-endian, which is the order of the machines that Lustre's clients run on.
struct Head {
  std::uint32_t magic;
  std::uint32_t pattern;
  std::uint64_t object[2];
  std::uint32_t stripe_bytes;
  std::uint16_t stripe_count;
  std::uint16_t first_server;
};
struct Object {
  std::uint64_t object[2];
  std::uint32_t generation;
  std::uint32_t server;
};
static_assert(sizeof(Head) == 32 && sizeof(Object) == 24);

}  // namespace

std::string lustre_attribute(const StripingParameters& striping, const std::vector<int>& servers) {
  Head head{k_magic_1,
            k_raid0,
            {},
            static_cast<std::uint32_t>(striping.bytes),
            static_cast<std::uint16_t>(striping.count),  // -1: all, as there
            servers.empty() ? k_any_server : static_cast<std::uint16_t>(servers[0])};
  std::string value(sizeof(Head) + servers.size() * sizeof(Object), '\0');
  std::memcpy(value.data(), &head, sizeof(head));
  for (std::size_t i = 0; i < servers.size(); ++i) {
    const Object object{{}, 0, static_cast<std::uint32_t>(servers[i])};
    std::memcpy(value.data() + sizeof(Head) + i * sizeof(Object), &object, sizeof(object));
  }
  return value;
}

std::optional<LustreStriping> read_lustre_attribute(const std::string& value) {
  Head head{};
  if (value.size() < sizeof(head)) return std::nullopt;
  std::memcpy(&head, value.data(), sizeof(head));
  if (head.magic != k_magic_1 && head.magic != k_magic_3) return std::nullopt;
  if (head.pattern != 0 && head.pattern != k_raid0) return std::nullopt;
  LustreStriping out;
  out.striping.bytes = head.stripe_bytes;
  out.striping.count = static_cast<std::int16_t>(head.stripe_count);
  std::size_t at = sizeof(head) + (head.magic == k_magic_3 ? k_pool_name : 0);
  for (; at + sizeof(Object) <= value.size(); at += sizeof(Object)) {
    Object object{};
    std::memcpy(&object, value.data() + at, sizeof(object));
    out.servers.push_back(static_cast<int>(object.server));
  }
  return out;
}

}  // namespace shoal::lab
