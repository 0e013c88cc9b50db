// SPDX-License-Identifier: BSD-3-Clause
#include "storage/paths.hpp"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/error.hpp"

namespace shoal {

namespace fs = std::filesystem;

namespace {

PathKind kind_of(const fs::file_status& status) {
  switch (status.type()) {
    case fs::file_type::none:
      return PathKind::unknown;
    case fs::file_type::not_found:
      return PathKind::nothing;
    case fs::file_type::regular:
      return PathKind::file;
    case fs::file_type::directory:
      return PathKind::folder;
    case fs::file_type::symlink:
      return PathKind::link;
    default:
      return PathKind::special;
  }
}

}  // namespace

std::string folder_of(const std::string& path) {
  const auto folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string file_name_of(const std::string& path) {
  return fs::path(path).filename().string();
}

std::string stem_of(const std::string& path) {
  return fs::path(path).stem().string();
}

std::string extension_of(const std::string& path) {
  return fs::path(path).extension().string();
}

std::string joined_path(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / name).string();
}

std::string path_beside(const std::string& path, const std::string& name) {
  return (fs::path(path).parent_path() / name).string();
}

std::string relative_path(const std::string& path, const std::string& folder) {
  return fs::path(path).lexically_relative(folder).string();
}

bool name_one_folder(const std::string& a, const std::string& b) {
  return fs::path(a).parent_path() == fs::path(b).parent_path();
}

std::string absolute_path(const std::string& path) {
  std::error_code no_working_folder;
  const auto found = fs::absolute(path, no_working_folder);
  return no_working_folder ? path : found.string();
}

std::string normal_path(const std::string& path) {
  return fs::path(absolute_path(path)).lexically_normal().string();
}

std::string resolved_path(const std::string& path) {
  std::error_code problem;
  const auto found = fs::weakly_canonical(absolute_path(path), problem);
  return problem || found.empty() ? normal_path(path) : found.string();
}

std::string target_of(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
  if (real) return real.get();
  constexpr int k_most_links = 40;
  fs::path target(absolute_path(path));
  std::error_code ignored;
  for (int i = 0; i < k_most_links && fs::is_symlink(target, ignored); ++i)
    target = target.parent_path() / fs::read_symlink(target, ignored);
  return target.string();
}

PathKind kind_of_path(const std::string& path) {
  std::error_code ignored;
  return kind_of(fs::status(path, ignored));
}

PathKind kind_of_name(const std::string& path) {
  std::error_code ignored;
  return kind_of(fs::symlink_status(path, ignored));
}

bool path_exists(const std::string& path) {
  const PathKind kind = kind_of_path(path);
  return kind != PathKind::nothing && kind != PathKind::unknown;
}

bool is_a_file(const std::string& path) {
  return kind_of_path(path) == PathKind::file;
}

bool is_a_folder(const std::string& path) {
  return kind_of_path(path) == PathKind::folder;
}

bool is_free_name(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) != 0 && errno == ENOENT;
}

std::uint64_t file_number(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_ino) : 0;
}

std::vector<std::int64_t> identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino),
          static_cast<std::int64_t>(status.st_ctim.tv_sec),
          static_cast<std::int64_t>(status.st_ctim.tv_nsec)};
}

std::uint64_t block_bytes_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_blksize) : 0;
}

bool may_write(const std::string& path) {
  return ::access(path.c_str(), W_OK) == 0;
}

std::vector<std::string> names_in_folder(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem))
    names.push_back(at->path().filename().string());
  if (problem) throw errno_error(problem.value(), "the folder cannot be listed").in_file(folder);
  return names;
}

std::vector<std::string> paths_that_match(const std::string& pattern) {
  glob_t result{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &result) == 0)
    for (std::size_t i = 0; i < result.gl_pathc; ++i)
      paths.emplace_back(result.gl_pathv[i]);
  ::globfree(&result);
  return paths;
}

void make_folder(const std::string& folder) {
  std::error_code problem;
  fs::create_directory(folder, problem);
  if (problem) throw errno_error(problem.value(), "the folder cannot be made").in_file(folder);
}

void make_folders(const std::string& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) throw errno_error(problem.value(), "the folder cannot be made").in_file(folder);
}

void remove_all(const std::string& path) {
  std::error_code problem;
  fs::remove_all(path, problem);
  if (problem) throw errno_error(problem.value(), "removing it").in_file(path);
}

void link_or_copy(const std::string& path, const std::string& to) {
  std::error_code problem;
  fs::create_hard_link(path, to, problem);
  if (!problem) return;
  fs::copy_file(path, to, problem);
  if (problem) throw errno_error(problem.value(), "copying a file to it").in_file(to);
}

void remove_file(const std::string& path) {
  std::error_code problem;
  fs::remove(path, problem);
  if (problem) throw errno_error(problem.value(), "removing it").in_file(path);
}

}  // namespace shoal
