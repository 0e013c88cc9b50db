// SPDX-License-Identifier: BSD-3-Clause
#include "files.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace shoal::bench {

namespace {

constexpr std::size_t k_least_digits = 4;

// What follows the common name: "" (the file itself), ".0012", and a header's ending after either.
struct Ending {
  bool known = false;
  bool numbered = false;
  bool header = false;
};

Ending ending_of(std::string text) {
  Ending ending;
  for (const char* header : {".json", ".json.tmp"})
    if (!ending.header && text.ends_with(header)) {
      text.resize(text.size() - std::string(header).size());
      ending.header = true;
    }
  ending.numbered =
      text.size() > k_least_digits && text[0] == '.' &&
      std::all_of(text.begin() + 1, text.end(), [](unsigned char c) { return std::isdigit(c); });
  ending.known = text.empty() || ending.numbered;
  return ending;
}

template <class Take>
std::vector<std::string> found(const std::string& path, Take&& take) {
  const std::filesystem::path whole(path);
  const std::string name = whole.filename().string();
  const auto folder = whole.has_parent_path() ? whole.parent_path() : std::filesystem::path(".");
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto other = entry.path().filename().string();
    if (!other.starts_with(name)) continue;
    const auto ending = ending_of(other.substr(name.size()));
    if (ending.known && take(ending)) files.push_back((whole.parent_path() / other).string());
  }
  // Numbers of more digits are larger ones.
  std::sort(files.begin(), files.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return files;
}

}  // namespace

std::vector<std::string> pieces_of(const std::string& path) {
  if (std::filesystem::exists(path)) return {path};
  return found(path, [](const Ending& e) { return e.numbered && !e.header; });
}

std::vector<std::string> files_of(const std::string& path) {
  std::vector<std::string> files;
  for (const auto& piece : found(path, [](const Ending&) { return true; })) {
    if (!std::filesystem::is_directory(piece)) {
      files.push_back(piece);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(piece))
      if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  return files;
}

void remove_files(const std::string& path) {
  for (const auto& piece : found(path, [](const Ending&) { return true; }))
    std::filesystem::remove_all(piece);
}

std::int64_t bytes_of_files(const std::string& path) {
  std::int64_t bytes = 0;
  for (const auto& file : files_of(path))
    bytes += static_cast<std::int64_t>(std::filesystem::file_size(file));
  return bytes;
}

}  // namespace shoal::bench
