// SPDX-License-Identifier: BSD-3-Clause
#include "format/raw/text_values.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstring>
#include <type_traits>

namespace shoal {

namespace {

constexpr std::size_t k_longest = 32;

template <class T>
std::to_chars_result put(char* first, char* last, T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::to_chars(first, last, value, std::chars_format::general, sizeof(T) == 4 ? 9 : 17);
  else
    return std::to_chars(first, last, value);
}

bool never_written(const char* text, std::size_t n) {
  return std::all_of(text, text + n, [](char c) { return c == '\0'; });
}

}  // namespace

std::int64_t text_width(Type type) {
  switch (type) {
    case Type::char_:
    case Type::ubyte:
      return 4;
    case Type::byte_:
      return 5;
    case Type::ushort:
      return 6;
    case Type::short_:
      return 7;
    case Type::uint:
      return 11;
    case Type::int_:
      return 12;
    case Type::int64:
    case Type::uint64:
      return 21;
    case Type::float_:
      return 17;
    case Type::double_:
      return 26;
    default:
      return 1;
  }
}

void to_text(const std::byte* values, Type type, std::int64_t n, char* text) {
  const auto width = static_cast<std::size_t>(text_width(type)) - 1;
  with_number(type, [&](auto value) {
    for (std::int64_t i = 0; i < n; ++i) {
      std::memcpy(&value, values, sizeof value);
      std::array<char, k_longest> digits;
      const auto end = put(digits.data(), digits.data() + digits.size(), value).ptr;
      const auto length = static_cast<std::size_t>(end - digits.data());
      assert(length <= width);
      std::memset(text, ' ', width - length);
      std::memcpy(text + (width - length), digits.data(), length);
      text[width] = '\n';
      values += sizeof value;
      text += width + 1;
    }
  });
}

std::int64_t from_text(const char* text, Type type, std::int64_t n, std::byte* values,
                       const std::byte* fill) {
  const auto width = static_cast<std::size_t>(text_width(type)) - 1;
  return with_number(type, [&](auto value) -> std::int64_t {
    for (std::int64_t i = 0; i < n; ++i, values += sizeof value, text += width + 1) {
      if (never_written(text, width + 1)) {
        std::memcpy(values, fill, sizeof value);
        continue;
      }
      const char* const end = text + width;
      const char* const first = std::find_if(text, end, [](char c) { return c != ' '; });
      const auto found = std::from_chars(first, end, value);
      if (found.ec != std::errc() || found.ptr != end || *end != '\n') return i;
      std::memcpy(values, &value, sizeof value);
    }
    return -1;
  });
}

}  // namespace shoal
