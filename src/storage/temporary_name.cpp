// SPDX-License-Identifier: BSD-3-Clause
#include "storage/temporary_name.hpp"

#include <fmt/core.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "base/error.hpp"

namespace shoal {

namespace {

// The longest name of most file systems is 255 bytes; the rest is for what is put before and behind.
constexpr std::size_t k_longest = 200;

bool inside_of_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// Cut between characters: some file systems take whole ones only.
std::string shortened(std::string name) {
  if (name.size() <= k_longest) return name;
  std::size_t end = k_longest;
  while (end > 0 && inside_of_character(name[end]))
    --end;
  name.resize(end);
  return name;
}

std::string hidden_name(const std::string& path, const std::string& ending) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / fmt::format(".{}{}", shortened(whole.filename().string()), ending)).string();
}

}  // namespace

std::string temporary_name(const std::string& path) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) throw errno_error(errno, "no random number");
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), ".%016llx.tmp", static_cast<unsigned long long>(number));
  return hidden_name(path, text.data());
}

std::string shared_temporary_name(const std::string& path) {
  return hidden_name(path, ".new.tmp");
}

bool is_temporary_name(const std::string& name, const std::string& path) {
  const std::string begin = fmt::format(".{}.", shortened(std::filesystem::path(path).filename().string()));
  constexpr std::string_view k_end = ".tmp";
  constexpr std::size_t k_digits = 16;
  return name.size() == begin.size() + k_digits + k_end.size() && name.starts_with(begin) &&
         name.ends_with(k_end) &&
         name.find_first_not_of("0123456789abcdef", begin.size()) == begin.size() + k_digits;
}

}  // namespace shoal
