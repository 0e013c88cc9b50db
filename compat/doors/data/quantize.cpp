// SPDX-License-Identifier: BSD-3-Clause
#include "data/quantize.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numbers>

namespace door {

namespace {

// Bits of the mantissa that become zeros, or ones; less than 0: more are asked for than there are.
int changed_bits(int mantissa, int mode, int digits) {
  if (mode == NC_QUANTIZE_BITROUND) return mantissa - digits;
  return mantissa - static_cast<int>(std::ceil(digits * std::numbers::ln10 / std::numbers::ln2)) - 1;
}

int mantissa_of(nc_type type) {
  return (type == NC_FLOAT ? std::numeric_limits<float>::digits : std::numeric_limits<double>::digits) - 1;
}

template <class Real, class Bits>
void quantize_all(const Variable& var, void* values, std::size_t count) {
  const int changed = changed_bits(mantissa_of(var.type), var.quantize, var.digits);
  const Bits ones = (Bits{1} << changed) - 1, half = ones ^ (ones >> 1);
  Real fill = 0;
  std::memcpy(&fill, fill_of(var).data(), sizeof fill);
  auto* at = static_cast<char*>(values);
  for (std::size_t i = 0; i < count; ++i, at += sizeof(Real)) {
    Real value = 0;
    Bits bits = 0;
    std::memcpy(&value, at, sizeof value);
    std::memcpy(&bits, at, sizeof bits);
    if (value == fill || value == 0 || !std::isfinite(value)) continue;
    if (var.quantize == NC_QUANTIZE_BITROUND)
      bits = static_cast<Bits>(bits + half) & ~ones;
    else if (i % 2 == 0)
      bits &= ~ones;
    else
      bits |= ones;
    std::memcpy(at, &bits, sizeof bits);
  }
}

constexpr int k_modes[] = {NC_QUANTIZE_BITGROOM, NC_QUANTIZE_GRANULARBR, NC_QUANTIZE_BITROUND};

}  // namespace

bool quantizes(nc_type type, int mode, int digits) {
  return mode != NC_QUANTIZE_GRANULARBR && changed_bits(mantissa_of(type), mode, digits) >= 0;
}

const char* quantize_attribute(int mode) {
  switch (mode) {
    case NC_QUANTIZE_BITGROOM:
      return NC_QUANTIZE_BITGROOM_ATT_NAME;
    case NC_QUANTIZE_GRANULARBR:
      return NC_QUANTIZE_GRANULARBR_ATT_NAME;
    case NC_QUANTIZE_BITROUND:
      return NC_QUANTIZE_BITROUND_ATT_NAME;
    default:
      return nullptr;
  }
}

void read_quantize(Variable& var) {
  for (const int mode : k_modes) {
    const int index = find(var.attributes, quantize_attribute(mode));
    if (index < 0) continue;
    const Attribute& attribute = var.attributes[static_cast<std::size_t>(index)];
    if (attribute.type != NC_INT || attribute.count != 1) continue;
    var.quantize = mode;
    std::memcpy(&var.digits, attribute.bytes.data(), sizeof var.digits);
    return;
  }
}

void quantize(const Variable& var, void* values, std::size_t count) {
  if (var.quantize == NC_NOQUANTIZE || var.quantize == NC_QUANTIZE_GRANULARBR) return;
  if (var.type == NC_FLOAT)
    quantize_all<float, std::uint32_t>(var, values, count);
  else if (var.type == NC_DOUBLE)
    quantize_all<double, std::uint64_t>(var, values, count);
}

}  // namespace door
