// SPDX-License-Identifier: BSD-3-Clause
// Settings that had another name before: the old one works for this version, with a warning.
#pragma once

#include <span>
#include <string>

namespace shoal {

struct SettingAlias {
  const char* old_name;
  const char* name;  ///< one of setting_keys()
};

/// Every old name that still works.
std::span<const SettingAlias> setting_aliases();

/// The name of today for an old one; nullptr: it is none. Local.
const char* renamed_setting(const std::string& old_name);

/// What to say to who used it. origin: "argument", "SHOAL_EXCHANGE", ...
std::string renamed_warning(const std::string& old_name, const std::string& origin);

}  // namespace shoal
