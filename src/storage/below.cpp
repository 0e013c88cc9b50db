// SPDX-License-Identifier: BSD-3-Clause
#include "storage/below.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

namespace shoal {

namespace fs = std::filesystem;

namespace {

fs::path without_slash(const fs::path& folder) {
  return folder.has_filename() || !folder.has_relative_path() ? folder : folder.parent_path();  // "/a/b/"
}

}  // namespace

bool is_below(const std::string& path, const std::string& folder) {
  const fs::path whole(path), above = without_slash(folder);
  return std::mismatch(above.begin(), above.end(), whole.begin(), whole.end()).first == above.end();
}

std::string why_not_below(const std::string& path, const std::string& folder) {
  std::error_code none;
  const fs::path above = without_slash(fs::absolute(folder.empty() ? "." : folder, none).lexically_normal());
  const fs::path whole = fs::absolute(path, none).lexically_normal();
  const auto [end_above, begin] = std::mismatch(above.begin(), above.end(), whole.begin(), whole.end());
  if (end_above != above.end() || begin == whole.end())
    return fmt::format("it is not below the folder '{}'", above.string());
  fs::path place = above;
  for (auto part = begin; part != whole.end(); ++part) {
    place /= *part;
    if (fs::is_symlink(fs::symlink_status(place, none))) return fmt::format("'{}' is a link", place.string());
  }
  return "";
}

}  // namespace shoal
