// SPDX-License-Identifier: BSD-3-Clause
#include "format/reference/json.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace shoal::reference {

namespace {

/// Bytes of the UTF-8 character that begins at `at`; 0 if none does.
std::size_t utf8_length(const std::string& text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t n = lead < 0x80                   ? 1
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xF0 && lead < 0xF5 ? 4
                                                      : 0;
  if (n == 0 || at + n > text.size()) return 0;
  unsigned code = n == 1 ? lead : lead & (0xFFU >> (n + 1));
  for (std::size_t i = 1; i < n; ++i) {
    const auto next = static_cast<unsigned char>(text[at + i]);
    if ((next & 0xC0U) != 0x80) return 0;
    code = code << 6 | (next & 0x3FU);
  }
  // Longer than it has to be, half of a character of UTF-16, or behind the last one there is.
  const bool is_none = (n == 3 && code < 0x800) || (n == 4 && code < 0x10000) ||
                       (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF;
  return is_none ? 0 : n;
}

std::string escape(unsigned code) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\u%04x", code);
  return text.data();
}

template <class T>
T load(const std::byte* p) {
  T value{};
  std::memcpy(&value, p, sizeof value);
  return value;
}

std::string real(double value, int digits, bool quote_special) {
  if (!std::isfinite(value)) {
    const std::string text = std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
    return quote_special ? json_string(text) : text;
  }
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.*g", digits, value);
  std::string out = text.data();
  // Readers would make an integer of it.
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

}  // namespace

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t n = utf8_length(text, i);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i];
    } else if (c < 0x20 || c == '{' || c == '}' || n == 0) {
      out += escape(c);
    } else {
      out.append(text, i, n);
    }
    i += n == 0 ? 1 : n;
  }
  return out + '"';
}

std::string number(Type type, const std::byte* p, bool quote_special) {
  switch (type) {
    case Type::byte_:
      return std::to_string(load<std::int8_t>(p));
    case Type::short_:
      return std::to_string(load<std::int16_t>(p));
    case Type::int_:
      return std::to_string(load<std::int32_t>(p));
    case Type::ubyte:
      return std::to_string(load<std::uint8_t>(p));
    case Type::ushort:
      return std::to_string(load<std::uint16_t>(p));
    case Type::uint:
      return std::to_string(load<std::uint32_t>(p));
    case Type::int64:
      return std::to_string(load<std::int64_t>(p));
    case Type::uint64:
      return std::to_string(load<std::uint64_t>(p));
    case Type::float_:
      return real(static_cast<double>(load<float>(p)), quote_special ? 17 : 9, quote_special);
    case Type::double_:
      return real(load<double>(p), 17, quote_special);
    default:
      return "null";
  }
}

std::string json_value(const Attribute& attribute) {
  if (attribute.type == Type::char_) {
    std::string text(reinterpret_cast<const char*>(attribute.data.data()), attribute.data.size());
    while (!text.empty() && text.back() == '\0')
      text.pop_back();
    return json_string(text);
  }
  std::string out;
  const std::int64_t n = attribute.count();
  for (std::int64_t i = 0; i < n; ++i) {
    if (i > 0) out += ", ";
    const auto at = static_cast<std::size_t>(i);
    out += attribute.type == Type::string
               ? json_string(attribute.strings[at])
               : number(attribute.type, attribute.data.data() + at * size_of(attribute.type), false);
  }
  return n == 1 ? out : "[" + out + "]";
}

std::string base64(const std::byte* bytes, std::size_t n) {
  static constexpr char k_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((n + 2) / 3 * 4);
  for (std::size_t i = 0; i < n; i += 3) {
    unsigned word = 0;
    for (std::size_t j = 0; j < 3; ++j)
      word = word << 8U | (i + j < n ? std::to_integer<unsigned>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      out += i + j > n ? '=' : k_digits[word >> (18 - 6 * j) & 63U];
  }
  return out;
}

}  // namespace shoal::reference
