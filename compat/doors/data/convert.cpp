// SPDX-License-Identifier: BSD-3-Clause
#include "data/convert.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "file/definitions.hpp"

namespace door {

namespace {

// As the libraries compare: with the limits as a double has them, of which those of 64 bits are no integers.
template <class To, class From>
bool fits(From value) {
  using Limits = std::numeric_limits<To>;
  if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    return std::in_range<To>(value);
  } else if constexpr (std::is_integral_v<To>) {
    return !(static_cast<double>(value) > static_cast<double>(Limits::max()) ||
             static_cast<double>(value) < static_cast<double>(Limits::min()));
  } else if constexpr (std::is_same_v<From, double> && std::is_same_v<To, float>) {
    return !(std::fabs(value) > static_cast<double>(Limits::max()));
  } else {
    return true;
  }
}

// Has To the integer that is left of a value without its fraction?
template <class To, class From>
bool has_integer(From value) {
  const double whole = std::trunc(static_cast<double>(value));
  return whole >= static_cast<double>(std::numeric_limits<To>::min()) &&
         whole < std::ldexp(1.0, std::numeric_limits<To>::digits);
}

// Also where it does not fit, without undefined behaviour: integers keep their low bits, and floating point
// goes by way of a longer integer where that has room, as programs know it.
template <class To, class From>
To made_of(From value, bool is_in_range) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    if (!has_integer<To>(value)) {
      if (is_in_range && !std::isnan(value)) return std::numeric_limits<To>::max();
      using Way = std::conditional_t<(sizeof(To) < sizeof(int)), int, long long>;
      constexpr bool has_way = sizeof(To) < sizeof(int) || std::is_unsigned_v<To>;
      if (!has_way) return std::numeric_limits<To>::min();
      return static_cast<To>(has_integer<Way>(value) ? static_cast<Way>(value)
                                                     : std::numeric_limits<Way>::min());
    }
  return static_cast<To>(value);
}

template <class From, class To>
int convert_all(const void* values, void* out, std::size_t count, const void* out_of_range) {
  int code = NC_NOERR;
  const auto* from = static_cast<const char*>(values);
  auto* to = static_cast<char*>(out);
  for (std::size_t i = 0; i < count; ++i) {  // programs' arrays may be aligned in no way
    From value;
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    const bool is_in_range = fits<To>(value);
    To made = made_of<To>(value, is_in_range);
    if (!is_in_range) {
      code = NC_ERANGE;
      if (out_of_range != nullptr) std::memcpy(&made, out_of_range, sizeof made);
    }
    std::memcpy(to + i * sizeof made, &made, sizeof made);
  }
  return code;
}

// Calls `call` with a value of the type's type in C.
template <class Call>
int with_type(nc_type type, Call&& call) {
  switch (type) {
    case NC_BYTE:
      return call(static_cast<signed char>(0));
    case NC_SHORT:
      return call(static_cast<short>(0));
    case NC_INT:
      return call(0);
    case NC_FLOAT:
      return call(0.0F);
    case NC_DOUBLE:
      return call(0.0);
    case NC_UBYTE:
      return call(static_cast<unsigned char>(0));
    case NC_USHORT:
      return call(static_cast<unsigned short>(0));
    case NC_UINT:
      return call(0U);
    case NC_INT64:
      return call(0LL);
    case NC_UINT64:
      return call(0ULL);
    default:
      return NC_EBADTYPE;
  }
}

bool same_bits(nc_type from, nc_type to, const ConversionRules& rules) {
  if (from == to) return true;
  return rules.bytes_have_no_sign && size_of(from) == 1 && size_of(to) == 1;
}

}  // namespace

bool converts(nc_type from, nc_type to, const ConversionRules& rules) {
  return !same_bits(from, to, rules);
}

int convert(nc_type from, const void* values, nc_type to, void* out, std::size_t count,
            const ConversionRules& rules) {
  if ((from == NC_CHAR) != (to == NC_CHAR)) return NC_ECHAR;
  if (same_bits(from, to, rules)) {
    if (count != 0) std::memcpy(out, values, count * size_of(from));
    return NC_NOERR;
  }
  return with_type(from, [&](auto one) {
    using From = decltype(one);
    return with_type(to, [&](auto other) {
      return convert_all<From, decltype(other)>(values, out, count, rules.out_of_range);
    });
  });
}

}  // namespace door
