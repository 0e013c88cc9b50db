// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/parameters.hpp"

namespace shoal::lab {

/// The extended attribute in which Lustre's clients show and take the stripes of a file or a folder.
inline constexpr const char* k_lustre_attribute = "lustre.lov";

/// Stripes as the attribute has them (struct lov_user_md, version 1). `servers`: of each object; none for a
/// folder.
std::string lustre_attribute(const StripingParameters& striping, const std::vector<int>& servers);

struct LustreStriping {
  StripingParameters striping;
  std::vector<int> servers;
};
/// The other way, of versions 1 and 3; nothing: no such value, or a layout that is not one row of stripes.
std::optional<LustreStriping> read_lustre_attribute(const std::string& value);

}  // namespace shoal::lab
