// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace shoal {

/// Element types; 1 to 12 have the numbers of NetCDF's external types.
enum class Type : int {
  none = 0,
  byte_ = 1,
  char_ = 2,
  short_ = 3,
  int_ = 4,
  float_ = 5,
  double_ = 6,
  ubyte = 7,
  ushort = 8,
  uint = 9,
  int64 = 10,
  uint64 = 11,
  string = 12,
  logical = 13,  ///< memory: integer of 1, 2, 4 or 8 bytes, non-zero is true; file: byte_ 0 or 1
};

/// Bytes of one element, in memory and file; string: a pointer; logical: 1.
std::size_t size_of(Type type);
/// "float", "int64", ...; "none".
const char* name_of(Type type);
/// The Type with the number of shoal.h; throws Error(type) for others.
Type type_of(int number);
/// "float", "f4", "double", "f8", "i4", ... as in NetCDF, CDL and NumPy; throws Error(type) with the nearest
/// name.
Type type_of(const std::string& name);
/// Integers and floating-point numbers: neither char_ nor string nor logical nor none.
bool is_number(Type type);
/// NetCDF's default fill value of the type, in memory order, size_of(type) bytes; nullptr for string.
const void* default_fill(Type type);

/// Calls visit with a value of the C++ type of a number; of char_ and all others: with a byte. All calls
/// return the same type.
template <class Visit>
auto with_number(Type type, Visit&& visit) {
  switch (type) {
    case Type::byte_:
      return visit(std::int8_t{});
    case Type::short_:
      return visit(std::int16_t{});
    case Type::int_:
      return visit(std::int32_t{});
    case Type::int64:
      return visit(std::int64_t{});
    case Type::ushort:
      return visit(std::uint16_t{});
    case Type::uint:
      return visit(std::uint32_t{});
    case Type::uint64:
      return visit(std::uint64_t{});
    case Type::float_:
      return visit(float{});
    case Type::double_:
      return visit(double{});
    default:
      return visit(std::uint8_t{});
  }
}

}  // namespace shoal
