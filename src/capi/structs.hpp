// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "shoal/shoal.h"

namespace shoal::capi {

/// Structs that callers allocate begin with struct_size, which says how many of the members the caller's
/// shoal.h has. first: the size in the first version that had the struct; members are added at the end, so
/// that sizeof grows. Error(invalid_argument): a size that no version has.
inline std::size_t known_size(std::size_t given, std::size_t first, std::size_t now, const char* name) {
  if (given >= first && given <= now) return given;
  const std::string wanted = first == now ? std::to_string(now) : fmt::format("{} to {}", first, now);
  throw Error(
      Code::invalid_argument, "struct_size of a {} is {}; this library knows {} bytes{}", name, given, wanted,
      given > now ? ". The program was compiled with a newer shoal.h, or the struct has no initial value"
                  : fmt::format(". Give the struct its initial value: see {} in shoal.h", name));
}

/// What the caller gives: members that its version does not have are 0.
template <class T>
T taken(const T& given, std::size_t first, const char* name) {
  T out{};
  std::memcpy(&out, &given, known_size(given.struct_size, first, sizeof(T), name));
  return out;
}

/// Fill as much of *out as the caller's version has; its struct_size stays.
template <class T>
void hand_out(const T& made, T* out, std::size_t first, const char* name) {
  const std::size_t size = known_size(out->struct_size, first, sizeof(T), name);
  T whole = made;
  whole.struct_size = size;
  std::memcpy(out, &whole, size);
}

/// sizeof in the first version that had the struct: what was added since is behind it.
inline constexpr std::size_t k_array_0_2 = sizeof(shoal_array),
                             k_section_0_2 = offsetof(shoal_section, records),
                             k_map_info_0_2 = offsetof(shoal_map_info, repeated),
                             k_file_info_0_2 = sizeof(shoal_file_info),
                             k_dim_info_0_2 = sizeof(shoal_dim_info), k_var_info_0_2 = sizeof(shoal_var_info),
                             k_att_info_0_2 = sizeof(shoal_att_info), k_box_0_2 = sizeof(shoal_box);

}  // namespace shoal::capi
