// SPDX-License-Identifier: BSD-3-Clause
#include "base/printable.hpp"

#include <fmt/core.h>
#include <utf8proc.h>

#include <algorithm>

namespace shoal {

namespace {

constexpr std::size_t k_longest = 8000;  // bytes of a message: room for a path, which has up to 4096

bool is_control(utf8proc_int32_t c) {
  const bool of_direction = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || of_direction;
}

bool is_plain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f;
}

std::string escaped(std::string_view text, std::string_view kept) {
  if (std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t c = -1;
    const utf8proc_ssize_t n = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                                                static_cast<utf8proc_ssize_t>(text.size() - at), &c);
    if (n < 1 || c < 0) {
      const auto byte = static_cast<unsigned char>(text[at++]);
      out += byte < 0xa0 ? fmt::format("\\x{:02x}", byte) : std::string(1, static_cast<char>(byte));
      continue;
    }
    const std::string_view whole = text.substr(at, static_cast<std::size_t>(n));
    at += whole.size();
    if (!is_control(c) || (c < 0x80 && kept.find(static_cast<char>(c)) != std::string_view::npos))
      out += whole;
    else
      out += c < 0x80 ? fmt::format("\\x{:02x}", c) : fmt::format("\\u{:04x}", c);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  return escaped(text, "\n\t");
}

std::string printable_name(std::string_view name) {
  return escaped(name, "");
}

std::string without_middle(std::string message) {
  constexpr std::size_t k_part = k_longest / 2;
  if (message.size() <= k_longest + 100) return message;
  return fmt::format("{} [... {} bytes ...] {}", message.substr(0, k_part), message.size() - 2 * k_part,
                     message.substr(message.size() - k_part));
}

}  // namespace shoal
