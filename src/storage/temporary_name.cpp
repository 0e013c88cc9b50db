// SPDX-License-Identifier: BSD-3-Clause
#include "storage/temporary_name.hpp"

#include <fmt/core.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "storage/paths.hpp"

namespace shoal {

namespace {

// The longest name of most file systems is 255 bytes; the rest is for what is put before and behind.
constexpr std::size_t k_longest = 200;
constexpr std::size_t k_digits = 16;

bool inside_of_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// Cut between characters: some file systems take whole ones only. What is cut off counts by its hash, so that
// two long names have two temporary ones.
std::string shortened(std::string name) {
  if (name.size() <= k_longest) return name;
  Hash whole;
  whole.add(std::string_view(name));
  std::size_t end = k_longest - k_digits;
  while (end > 0 && inside_of_character(name[end]))
    --end;
  name.resize(end);
  return name + fmt::format("{:016x}", whole.value());
}

constexpr std::string_view k_temporary = ".tmp";

std::string in_folder_of(const std::string& path, const std::string& before, const std::string& behind) {
  return path_beside(path, before + shortened(file_name_of(path)) + behind);
}

std::string random_number() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) throw errno_error(errno, "no random number");
  return fmt::format("{:016x}", number);
}

// ".0123456789abcdef.tmp"
bool ends_as_temporary(const std::string& name) {
  const std::size_t end = 1 + k_digits + k_temporary.size();
  if (name.size() < end) return false;
  const std::size_t point = name.size() - end;
  return name[point] == '.' && name.ends_with(k_temporary) &&
         name.find_first_not_of("0123456789abcdef", point + 1) == point + 1 + k_digits;
}

}  // namespace

std::string temporary_name(const std::string& path) {
  return in_folder_of(path, ".", "." + random_number() + std::string(k_temporary));
}

std::string name_lock_path(const std::string& path) {
  return in_folder_of(path, ".", ".new" + std::string(k_temporary));
}

std::string kept_name(const std::string& path) {
  return in_folder_of(path, "", ".kept." + random_number());
}

bool is_temporary_name(const std::string& name, const std::string& path) {
  const std::string begin = fmt::format(".{}.", shortened(file_name_of(path)));
  return name.size() == begin.size() + k_digits + k_temporary.size() && name.starts_with(begin) &&
         ends_as_temporary(name);
}

bool is_temporary_name(const std::string& path) {
  const std::string name = file_name_of(path);
  return name.starts_with('.') && ends_as_temporary(name);
}

}  // namespace shoal
