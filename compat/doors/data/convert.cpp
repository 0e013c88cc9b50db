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

template <class To, class From>
bool fits(From value) {
  using Limits = std::numeric_limits<To>;
  if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    return std::in_range<To>(value);
  } else if constexpr (std::is_integral_v<To>) {
    // 127.5 is no byte. The largest of 64 bits is no number of double, and the next one passes for it.
    const auto number = static_cast<double>(value);
    return !(number > static_cast<double>(Limits::max()) || number < static_cast<double>(Limits::min()));
  } else if constexpr (std::is_same_v<From, double> && std::is_same_v<To, float>) {
    return !(std::fabs(value) > static_cast<double>(Limits::max()));
  } else {
    return true;
  }
}

// Also where it does not fit, without undefined behaviour: integers keep their low bits, and floating point
// goes by way of an int where that has room, as programs know it.
template <class To, class From>
To made_of(From value, bool is_in_range) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    if (!is_in_range || std::isnan(value) ||
        !(value < std::ldexp(From{1}, std::numeric_limits<To>::digits))) {
      if (sizeof(To) >= sizeof(int) || std::isnan(value) || !fits<int>(value))
        return std::numeric_limits<To>::min();
      return static_cast<To>(static_cast<int>(value));
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
