// SPDX-License-Identifier: BSD-3-Clause
#include "base/type.hpp"

#include <array>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace shoal {

std::size_t size_of(Type type) {
  switch (type) {
    case Type::none:
      return 0;
    case Type::byte_:
    case Type::char_:
    case Type::ubyte:
    case Type::logical:
      return 1;
    case Type::short_:
    case Type::ushort:
      return 2;
    case Type::int_:
    case Type::uint:
    case Type::float_:
      return 4;
    case Type::double_:
    case Type::int64:
    case Type::uint64:
      return 8;
    case Type::string:
      return sizeof(char*);
  }
  return 0;
}

const char* name_of(Type type) {
  static constexpr std::array<const char*, 14> k_names{"none",  "byte",   "char",   "short",  "int",
                                                       "float", "double", "ubyte",  "ushort", "uint",
                                                       "int64", "uint64", "string", "logical"};
  const auto i = static_cast<std::size_t>(type);
  return i < k_names.size() ? k_names[i] : "none";
}

Type type_of(int number) {
  if (number < 1 || number > 13)
    throw Error(Code::type, "no element type has the number {}; 1 (byte) to 13 (logical) are allowed",
                number);
  return static_cast<Type>(number);
}

Type type_of(const std::string& name) {
  static const std::vector<std::pair<std::string, Type>> k_table{
      {"byte", Type::byte_},      {"i1", Type::byte_},       {"int8", Type::byte_},
      {"char", Type::char_},      {"short", Type::short_},   {"i2", Type::short_},
      {"int16", Type::short_},    {"int", Type::int_},       {"i4", Type::int_},
      {"int32", Type::int_},      {"float", Type::float_},   {"f4", Type::float_},
      {"float32", Type::float_},  {"double", Type::double_}, {"f8", Type::double_},
      {"float64", Type::double_}, {"ubyte", Type::ubyte},    {"u1", Type::ubyte},
      {"uint8", Type::ubyte},     {"ushort", Type::ushort},  {"u2", Type::ushort},
      {"uint16", Type::ushort},   {"uint", Type::uint},      {"u4", Type::uint},
      {"uint32", Type::uint},     {"int64", Type::int64},    {"i8", Type::int64},
      {"uint64", Type::uint64},   {"u8", Type::uint64},      {"string", Type::string},
      {"logical", Type::logical}, {"bool", Type::logical}};
  std::vector<std::string> names;
  for (const auto& [known, type] : k_table) {
    if (known == name) return type;
    names.push_back(known);
  }
  throw Error(Code::type, "no element type is called '{}'{}", name, did_you_mean(name, names));
}

bool is_number(Type type) {
  return type != Type::none && type != Type::char_ && type != Type::string && type != Type::logical;
}

const void* default_fill(Type type) {
  static constexpr std::int8_t k_byte = -127;
  static constexpr char k_char = 0;
  static constexpr std::int16_t k_short = -32767;
  static constexpr std::int32_t k_int = -2147483647;
  static constexpr float k_float = 9.9692099683868690e+36F;
  static constexpr double k_double = 9.9692099683868690e+36;
  static constexpr std::uint8_t k_ubyte = 255;
  static constexpr std::uint16_t k_ushort = 65535;
  static constexpr std::uint32_t k_uint = 4294967295U;
  static constexpr std::int64_t k_int64 = -9223372036854775806LL;
  static constexpr std::uint64_t k_uint64 = 18446744073709551614ULL;
  switch (type) {
    case Type::byte_:
    case Type::logical:
      return &k_byte;
    case Type::char_:
      return &k_char;
    case Type::short_:
      return &k_short;
    case Type::int_:
      return &k_int;
    case Type::float_:
      return &k_float;
    case Type::double_:
      return &k_double;
    case Type::ubyte:
      return &k_ubyte;
    case Type::ushort:
      return &k_ushort;
    case Type::uint:
      return &k_uint;
    case Type::int64:
      return &k_int64;
    case Type::uint64:
      return &k_uint64;
    case Type::none:
    case Type::string:
      return nullptr;
  }
  return nullptr;
}

}  // namespace shoal
