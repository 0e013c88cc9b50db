// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/settings/setting_aliases.hpp"

#include <fmt/core.h>

#include <array>

namespace shoal {

namespace {

constexpr auto k_aliases = std::to_array<SettingAlias>({
    {"direct_io", "bypass_page_cache"},
    {"exchange", "rearrange"},
    {"io_way", "rearranger"},
});

}  // namespace

std::span<const SettingAlias> setting_aliases() {
  return k_aliases;
}

const char* renamed_setting(const std::string& old_name) {
  for (const auto& alias : k_aliases)
    if (old_name == alias.old_name) return alias.name;
  return nullptr;
}

std::string renamed_warning(const std::string& old_name, const std::string& origin) {
  return fmt::format(
      "setting {} (from {}) is now called {}; the old name works in this version for the last time", old_name,
      origin, renamed_setting(old_name));
}

}  // namespace shoal
