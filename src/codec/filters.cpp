// SPDX-License-Identifier: BSD-3-Clause
#include "codec/filters.hpp"

#include <fmt/core.h>
#ifdef SHOAL_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#ifdef SHOAL_HAVE_ZSTD
#include <zstd.h>
#endif

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"

namespace shoal {

namespace {

struct Known {
  int id;
  const char* name;
  int least, most, usual;  // levels
  int order;               // of writing; -1: Shoal has no code for it
};

constexpr std::array<Known, 9> k_known{{
    {Filter::shuffle, "shuffle", 0, 0, 0, 0},
    {Filter::deflate, "deflate", 1, 12, 1, 1},
    {Filter::zstd, "zstd", 1, 22, 1, 1},
    {Filter::fletcher32, "fletcher32", 0, 0, 0, 2},
    {4, "szip", 0, 0, 0, -1},
    {5, "nbit", 0, 0, 0, -1},
    {6, "scaleoffset", 0, 0, 0, -1},
    {307, "bzip2", 0, 0, 0, -1},
    {32001, "blosc", 0, 0, 0, -1},
}};

const Known* find(int id) {
  const auto* found =
      std::find_if(k_known.begin(), k_known.end(), [&](const Known& k) { return k.id == id; });
  return found == k_known.end() ? nullptr : found;
}

bool compresses(const Filter& filter) {
  const auto* known = find(filter.id);
  return known != nullptr && known->most > 0;
}

[[noreturn]] void refuse(const std::string& text, const std::string& reason) {
  throw Error(Code::setting,
              "compression '{}' {}; allowed: none, or shuffle, deflate:1 to deflate:12 or zstd:1 to zstd:22, "
              "and fletcher32, with + between, such as shuffle+zstd:1",
              text, reason);
}

Filter filter_of(const std::string& word, const std::string& text) {
  const auto colon = word.find(':');
  const std::string name = lower(word.substr(0, colon));
  const auto* known = std::find_if(k_known.begin(), k_known.end(),
                                   [&](const Known& k) { return k.order >= 0 && name == k.name; });
  if (known == k_known.end())
    refuse(text, fmt::format("has '{}', which is no filter that can be written", word));
  Filter filter{known->id, known->usual};
  if (colon == std::string::npos) return filter;
  const char* end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data() + colon + 1, end, filter.level);
  if (parsed.ec != std::errc() || parsed.ptr != end || known->most == 0 || filter.level < known->least ||
      filter.level > known->most)
    refuse(text, known->most == 0 ? fmt::format("gives {} a level, and it has none", name)
                                  : fmt::format("has a level of {} that is not {} to {}", name, known->least,
                                                known->most));
  return filter;
}

}  // namespace

std::string name_of(const Filter& filter) {
  const auto* known = find(filter.id);
  return known != nullptr ? known->name : fmt::format("filter {}", filter.id);
}

std::string text_of(const Filters& filters) {
  std::string text;
  for (const auto& filter : filters)
    text += (text.empty() ? "" : "+") + name_of(filter) +
            (compresses(filter) ? fmt::format(":{}", filter.level) : "");
  return text.empty() ? "none" : text;
}

Filters filters_of(const std::string& text) {
  std::string blanks = text;
  std::replace_if(
      blanks.begin(), blanks.end(), [](char c) { return c == '+' || c == ','; }, ' ');
  const auto given = words(blanks);
  if (given.empty() || (given.size() == 1 && lower(given[0]) == "none")) return {};
  Filters filters;
  for (const auto& word : given)
    filters.push_back(filter_of(word, text));
  const auto order = [](const Filter& f) { return find(f.id)->order; };
  std::stable_sort(filters.begin(), filters.end(),
                   [&](const Filter& a, const Filter& b) { return order(a) < order(b); });
  for (std::size_t i = 1; i < filters.size(); ++i)
    if (order(filters[i]) == order(filters[i - 1]))
      refuse(text, filters[i].id == filters[i - 1].id ? fmt::format("has {} twice", name_of(filters[i]))
                                                      : "compresses twice");
  return filters;
}

std::string missing_code(const Filters& filters) {
  for (const auto& filter : filters) {
    const auto* known = find(filter.id);
    if (known == nullptr || known->order < 0) return "Shoal has no code for " + name_of(filter);
#ifndef SHOAL_HAVE_LIBDEFLATE
    if (filter.id == Filter::deflate) return "this build of Shoal has no libdeflate";
#endif
#ifndef SHOAL_HAVE_ZSTD
    if (filter.id == Filter::zstd) return "this build of Shoal has no zstd";
#endif
  }
  // How long a chunk was before a step is known of those in front of compression alone.
  const auto compressed = std::find_if(filters.begin(), filters.end(), compresses);
  if (compressed != filters.end() &&
      std::any_of(compressed + 1, filters.end(), [](const Filter& f) { return f.id != Filter::fletcher32; }))
    return "Shoal has no code for filters that come after compression, as in " + text_of(filters);
  return "";
}

std::string filters_of_build(bool present) {
  std::vector<std::string> names;
  for (const auto& known : k_known) {
    if (known.order < 0 || missing_code({{known.id, known.usual}}).empty() != present) continue;
    std::string name = known.name;
#ifdef SHOAL_HAVE_LIBDEFLATE
    if (known.id == Filter::deflate) name += " (libdeflate " LIBDEFLATE_VERSION_STRING ")";
#endif
#ifdef SHOAL_HAVE_ZSTD
    if (known.id == Filter::zstd) name += fmt::format(" ({})", ZSTD_versionString());
#endif
    names.push_back(name);
  }
  return names.empty() ? "none" : joined(names, ", ");
}

}  // namespace shoal
