// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/error.hpp"

namespace shoal {

namespace {

bool separates(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',';
}

// What is in the quotes that begin at `at`, which is then behind them.
std::string name_in_quotes(std::string_view text, std::size_t& at) {
  const auto bad = [&](const std::string& why) {
    throw Error(Code::invalid_argument, "the names '{}' {}", text, why);
  };
  std::string name;
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') {
      ++at;
      if (at == text.size() || (text[at] != '"' && text[at] != '\\'))
        bad("have a backslash in quotes; there, it can be before a double quote or a backslash alone");
    }
    name += text[at];
  }
  if (at == text.size()) bad("have a double quote that is not closed");
  ++at;
  if (at < text.size() && !separates(text[at])) bad("have no blank or comma behind a double quote");
  return name;
}

}  // namespace

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    if (separates(text[at])) {
      ++at;
    } else if (text[at] == '"') {
      out.push_back(name_in_quotes(text, at));
    } else {
      const std::size_t begin = at;
      while (at < text.size() && !separates(text[at]))
        ++at;
      out.emplace_back(text.substr(begin, at - begin));
    }
  }
  return out;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : text) {
    if (separates(c)) {
      if (!word.empty()) out.push_back(std::move(word));
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) out.push_back(std::move(word));
  return out;
}

std::string trimmed(std::string_view text) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && blank(text.back()))
    text.remove_suffix(1);
  return std::string(text);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return out;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += between;
    out += parts[i];
  }
  return out;
}

namespace {
/// Which letters a text has; two may count as one.
std::uint64_t letters_of(const std::string& text) {
  std::uint64_t letters = 0;
  for (const char c : text)
    letters |= std::uint64_t{1} << (static_cast<unsigned char>(c) & 63U);
  return letters;
}

/// At least so many letters have to be inserted, dropped or changed, whatever their order is.
int least_distance(std::uint64_t a, std::uint64_t b) {
  return std::max(std::popcount(a & ~b), std::popcount(b & ~a));
}

/// Letters to insert, drop, change or swap with their neighbour; swapped letters are the commonest slip.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = above;
    above.swap(row);
  }
  return above[b.size()];
}
}  // namespace

std::string did_you_mean(const std::string& name, const std::vector<std::string>& names) {
  constexpr std::size_t k_few = 12;
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  const std::string wanted = lower(name);
  const std::uint64_t letters = letters_of(wanted);
  // Programs ask in files of thousands of variables whether one is there: most are ruled out at a glance.
  const auto apart = [](std::size_t a, std::size_t b) { return a > b ? a - b : b - a; };
  for (const auto& candidate : names) {
    if (apart(wanted.size(), candidate.size()) >= best_distance) continue;
    const std::string other = lower(candidate);
    if (std::cmp_greater_equal(least_distance(letters, letters_of(other)), best_distance)) continue;
    const std::size_t distance = edit_distance(wanted, other);
    if (distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (best != nullptr) return fmt::format("; did you mean '{}'?", *best);
  if (names.empty() || names.size() > k_few) return "";
  return "; there are: " + joined(names, ", ");
}

std::int64_t parse_bytes(const std::string& text) {
  const std::string t = trimmed(text);
  char* end = nullptr;
  const double number = std::strtod(t.c_str(), &end);
  const std::string unit = lower(trimmed(end));
  constexpr double k_too_large = 9223372036854775808.0;  // 2^63
  static constexpr std::array<std::pair<const char*, double>, 13> k_units{{{"", 1.0},
                                                                           {"b", 1.0},
                                                                           {"k", 1024.0},
                                                                           {"kib", 1024.0},
                                                                           {"kb", 1e3},
                                                                           {"m", 1048576.0},
                                                                           {"mib", 1048576.0},
                                                                           {"mb", 1e6},
                                                                           {"g", 1073741824.0},
                                                                           {"gib", 1073741824.0},
                                                                           {"gb", 1e9},
                                                                           {"t", 1099511627776.0},
                                                                           {"tib", 1099511627776.0}}};
  if (end != t.c_str() && std::isfinite(number) && number >= 0)
    for (const auto& [known, factor] : k_units)
      if (unit == known && number * factor < k_too_large)
        return static_cast<std::int64_t>(std::llround(number * factor));
  throw Error(Code::setting, "'{}' is not a number of bytes; write 268435456, 256MiB or 1.5GB", text);
}

std::string bytes_text(double bytes) {
  static constexpr std::array<const char*, 5> k_units{"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024.0 && unit + 1 < k_units.size()) {
    bytes /= 1024.0;
    ++unit;
  }
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), unit == 0 ? "%.0f %s" : "%.1f %s", bytes, k_units[unit]);
  return buffer.data();
}

}  // namespace shoal
