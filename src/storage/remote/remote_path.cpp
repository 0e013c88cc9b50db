// SPDX-License-Identifier: BSD-3-Clause
#include "storage/remote/remote_path.hpp"

#include "base/text.hpp"

namespace shoal {

bool is_remote(const std::string& path) {
  const std::string begin = lower(path.substr(0, 8));
  return path.starts_with("s3://") || begin.starts_with("http://") || begin.starts_with("https://");
}

std::string shown_path(const std::string& path) {
  if (!is_remote(path)) return path;
  // Names of objects may have all characters.
  const std::string url = path.starts_with("s3://") ? path : path.substr(0, path.find_first_of("?#"));
  const std::size_t begin = url.find("://") + 3;
  const std::size_t user = url.substr(0, url.find('/', begin)).rfind('@');
  return user == std::string::npos ? url : url.substr(0, begin) + url.substr(user + 1);
}

}  // namespace shoal
