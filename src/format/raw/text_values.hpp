// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/type.hpp"

namespace shoal {

/// Characters of the line of one value, end of line included; every value of a type takes as many.
std::int64_t text_width(Type type);

/// n values as lines of text_width(type) characters, right-aligned, the end of line last: integers as they
/// are, floating point with as many digits as bring the same value back (9, 17), characters as their code (0
/// to 255). Not-a-number is "nan" or "-nan", infinity "inf" or "-inf".
void to_text(const std::byte* values, Type type, std::int64_t n, char* text);

/// The values of n such lines. Lines of nothing but zero bytes (never written) become *fill. Returns the
/// number of the first line that is no value of the type, or -1.
std::int64_t from_text(const char* text, Type type, std::int64_t n, std::byte* values, const std::byte* fill);

}  // namespace shoal
