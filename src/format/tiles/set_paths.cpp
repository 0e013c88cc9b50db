// SPDX-License-Identifier: BSD-3-Clause
#include "format/tiles/set_paths.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "storage/paths.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_least_digits = 3;

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_number(const std::string& text) {
  return text.size() >= k_least_digits && text.size() <= 12 &&
         std::all_of(text.begin(), text.end(), is_digit);
}

bool starts_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// What stands in the name between start and end.
std::string between(const std::string& name, const std::string& start, const std::string& end) {
  if (name.size() < start.size() + end.size() || !starts_with(name, start) || !ends_with(name, end))
    return {};
  return name.substr(start.size(), name.size() - start.size() - end.size());
}

void sort_by_number(std::vector<std::string>& files) {
  std::sort(files.begin(), files.end(), [](const std::string& a, const std::string& b) {
    return std::make_pair(number_in_name(a), a) < std::make_pair(number_in_name(b), b);
  });
}

std::vector<std::string> numbered_files(const std::string& path) {
  const std::string name = file_name_of(path);
  const std::string stem = stem_of(path);
  const std::string extension = extension_of(path);
  const std::pair<std::string, std::string> forms[] = {
      {name + ".", ""}, {stem + ".", extension}, {stem + "_", extension}};
  std::vector<std::string> found[3];
  std::vector<std::string> entries;
  caught([&] { entries = names_in_folder(folder_of(path)); });
  for (const std::string& entry : entries) {
    for (std::size_t f = 0; f < 3; ++f) {
      if ((f > 0 && extension.empty()) || !is_number(between(entry, forms[f].first, forms[f].second)))
        continue;
      found[f].push_back(path_beside(path, entry));
      break;
    }
  }
  for (auto& files : found) {
    if (files.empty()) continue;
    sort_by_number(files);
    return files;
  }
  return {};
}

std::vector<std::string> matches(const std::string& pattern) {
  std::vector<std::string> files = paths_that_match(pattern);
  if (files.empty())
    throw Error(Code::not_found, "no file matches '{}'; the pattern names the files of a set", pattern);
  sort_by_number(files);
  return files;
}

}  // namespace

std::int64_t number_in_name(const std::string& path) {
  const std::string name = file_name_of(path);
  std::size_t end = name.size();
  if (end > 0 && !is_digit(name[end - 1])) end = name.find_last_of('.');  // in front of the extension
  if (end == std::string::npos) return -1;
  std::size_t begin = end;
  while (begin > 0 && is_digit(name[begin - 1]))
    --begin;
  const std::string digits = name.substr(begin, end - begin);
  return is_number(digits) ? std::stoll(digits) : -1;
}

std::vector<std::string> files_of_set(const std::string& path) {
  if (path.empty() || path_exists(path)) return {};
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find_first_of(" \t\n", at), path.size());
    if (end > at) parts.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  const auto is_pattern = [](const std::string& p) { return p.find_first_of("*?[") != std::string::npos; };
  if (parts.size() <= 1) return is_pattern(path) ? matches(trimmed(path)) : numbered_files(path);
  // A path with a blank in it, whose files are numbered, is one path.
  auto numbered = numbered_files(path);
  if (!numbered.empty()) return numbered;
  const bool any_there = std::any_of(parts.begin(), parts.end(),
                                     [&](const std::string& p) { return is_pattern(p) || path_exists(p); });
  if (!any_there) return {};
  std::vector<std::string> files;
  for (const auto& part : parts) {
    if (is_pattern(part)) {
      const auto more = matches(part);
      files.insert(files.end(), more.begin(), more.end());
    } else if (path_exists(part)) {
      files.push_back(part);
    } else {
      throw Error(Code::not_found, "the file '{}' of the list of files does not exist", part).in_file(part);
    }
  }
  return files;
}

}  // namespace shoal
