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
#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "codec/blosc.hpp"
#include "codec/lz4.hpp"

namespace shoal {

namespace {

enum class Place : int { shuffle, compression, checksum, unknown };  // in the order of writing

struct Known {
  int id;
  const char* name;
  Place place;  // unknown: Shoal has no code for it
  bool leveled = false;
  int least = 0, most = 0, usual = 0;
};

constexpr std::array k_known{
    Known{Filter::shuffle, "shuffle", Place::shuffle},
    Known{Filter::deflate, "deflate", Place::compression, true, 1, 12, 1},
    Known{Filter::zstd, "zstd", Place::compression, true, 1, 22, 1},
    Known{Filter::gzip, "gzip", Place::compression, true, 0, 9, 1},
    Known{Filter::lz4, "lz4", Place::compression},
    Known{Filter::blosc, "blosc", Place::compression, true, 0, 9, 5},
    Known{Filter::fletcher32, "fletcher32", Place::checksum},
    Known{Filter::crc32c, "crc32c", Place::checksum},
    Known{4, "szip", Place::unknown},
    Known{5, "nbit", Place::unknown},
    Known{6, "scaleoffset", Place::unknown},
    Known{307, "bzip2", Place::unknown},
    Known{32001, "hdf5-blosc", Place::unknown},
};

const Known* find(int id) {
  const auto* found =
      std::find_if(k_known.begin(), k_known.end(), [&](const Known& k) { return k.id == id; });
  return found == k_known.end() ? nullptr : found;
}

Place place_of(const Filter& filter) {
  const auto* known = find(filter.id);
  return known != nullptr ? known->place : Place::unknown;
}

[[noreturn]] void refuse(const std::string& text, const std::string& reason) {
  throw Error(
      Code::setting,
      "compression '{}' {}; allowed: none, or shuffle, one of deflate:1 to deflate:12, zstd:1 to "
      "zstd:22, gzip:0 to gzip:9, lz4 or blosc:{}:0 to 9:{}, and fletcher32 or crc32c, with + between, "
      "such as shuffle+zstd:1 or blosc:zstd:5",
      text, reason, joined(blosc_compressors(), "|"), joined(blosc_shuffles(), "|"));
}

std::vector<std::string> parts_of(const std::string& word) {
  std::vector<std::string> parts{""};
  for (const char c : word) {
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

int level_of(const Known& known, const std::string& digits, const std::string& text) {
  int level = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, level);
  if (parsed.ec != std::errc() || parsed.ptr != end || level < known.least || level > known.most)
    refuse(text, fmt::format("has a level of {} that is not {} to {}", known.name, known.least, known.most));
  return level;
}

// "blosc:COMPRESSOR", ":LEVEL" and ":SHUFFLE" behind it as wanted. By default as numcodecs: level 5, bytes
// are shuffled.
Filter blosc_of(const Known& known, const std::vector<std::string>& parts, const std::string& text) {
  const auto is_one = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (parts.size() < 2 || !is_one(blosc_compressors(), parts[1]))
    refuse(text, fmt::format("says not by what blosc compresses: blosc:{}",
                             joined(blosc_compressors(), ", blosc:")));
  auto part = parts.begin() + 2;
  const auto is_shuffle = [&] { return part != parts.end() && is_one(blosc_shuffles(), *part); };
  const int level = part == parts.end() || is_shuffle() ? known.usual : level_of(known, *part++, text);
  const std::string shuffle = is_shuffle() ? *part++ : blosc_shuffles().front();
  if (part != parts.end())
    refuse(text,
           fmt::format("has '{}', which is no shuffle of blosc: {}", *part, joined(blosc_shuffles(), ", ")));
  return *blosc_filter(parts[1], level, shuffle);
}

Filter filter_of(const std::string& word, const std::string& text) {
  const auto parts = parts_of(lower(word));
  const auto* known = std::find_if(k_known.begin(), k_known.end(), [&](const Known& k) {
    return k.place != Place::unknown && parts[0] == k.name;
  });
  if (known == k_known.end())
    refuse(text, fmt::format("has '{}', which is no filter that can be written", word));
  if (known->id == Filter::blosc) return blosc_of(*known, parts, text);
  if (parts.size() == 1) return {known->id, known->usual};
  if (!known->leveled) refuse(text, fmt::format("gives {} a level, and it has none", known->name));
  if (parts.size() > 2) refuse(text, fmt::format("has '{}' behind the level of {}", parts[2], known->name));
  return {known->id, level_of(*known, parts[1], text)};
}

bool shuffles(const Filter& blosc) {
  return blosc_shuffle_of(blosc) != "noshuffle";
}

}  // namespace

std::string name_of(const Filter& filter) {
  const auto* known = find(filter.id);
  return known != nullptr ? known->name : fmt::format("filter {}", filter.id);
}

bool compresses(const Filter& filter) {
  return place_of(filter) == Place::compression;
}

bool is_checksum(const Filter& filter) {
  return place_of(filter) == Place::checksum;
}

std::string text_of(const Filters& filters) {
  std::vector<std::string> all;
  for (const auto& filter : filters) {
    std::string text = name_of(filter);
    const auto* known = find(filter.id);
    if (filter.id == Filter::blosc) text += ":" + blosc_compressor_of(filter);
    if (known != nullptr && known->leveled) text += fmt::format(":{}", filter.level);
    if (filter.id == Filter::blosc && blosc_shuffle_of(filter) != blosc_shuffles().front())
      text += ":" + blosc_shuffle_of(filter);
    all.push_back(text);
  }
  return all.empty() ? "none" : joined(all, "+");
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
  std::stable_sort(filters.begin(), filters.end(),
                   [](const Filter& a, const Filter& b) { return place_of(a) < place_of(b); });
  for (std::size_t i = 1; i < filters.size(); ++i) {
    const Filter &before = filters[i - 1], &filter = filters[i];
    if (place_of(filter) == place_of(before))
      refuse(text, filter.id == before.id ? fmt::format("has {} twice", name_of(filter))
                   : compresses(filter)   ? "compresses twice"
                                          : "has two checksums");
    if (before.id == Filter::shuffle && filter.id == Filter::blosc && shuffles(filter))
      refuse(text, "shuffles twice, as blosc does it by itself; leave shuffle out");
  }
  return filters;
}

std::string missing_code(const Filters& filters) {
  for (const auto& filter : filters) {
    if (place_of(filter) == Place::unknown) return "Shoal has no code for " + name_of(filter);
#ifndef SHOAL_HAVE_LIBDEFLATE
    if (filter.id == Filter::deflate || filter.id == Filter::gzip)
      return "this build of Shoal has no libdeflate";
#endif
#ifndef SHOAL_HAVE_ZSTD
    if (filter.id == Filter::zstd) return "this build of Shoal has no zstd";
#endif
#ifndef SHOAL_HAVE_LZ4
    if (filter.id == Filter::lz4) return "this build of Shoal has no lz4";
#endif
    if (filter.id == Filter::blosc)
      if (const auto missing = missing_blosc(filter); !missing.empty()) return missing;
  }
  // How long a chunk was before a step is known of those in front of compression alone.
  const auto compressed = std::find_if(filters.begin(), filters.end(), compresses);
  if (compressed != filters.end() && !std::all_of(compressed + 1, filters.end(), is_checksum))
    return "Shoal has no code for filters that come after compression, as in " + text_of(filters);
  return "";
}

std::uint64_t longest_chunk(const Filters& filters) {
  constexpr std::uint64_t k_of_blosc = 0x7fffffff - 16;  // BLOSC_MAX_BUFFERSIZE
  constexpr std::uint64_t k_of_lz4 = 0x7e000000;         // LZ4_MAX_INPUT_SIZE
  std::uint64_t longest = std::numeric_limits<std::uint64_t>::max();
  for (const auto& filter : filters)
    longest = std::min(longest, filter.id == Filter::blosc ? k_of_blosc
                                : filter.id == Filter::lz4 ? k_of_lz4
                                                           : longest);
  return longest;
}

std::string filters_of_build(bool present) {
  std::vector<std::string> names;
  for (const auto& known : k_known) {
    if (known.place == Place::unknown || missing_code({{known.id, known.usual}}).empty() != present) continue;
    std::string name = known.name;
#ifdef SHOAL_HAVE_LIBDEFLATE
    if (known.id == Filter::deflate || known.id == Filter::gzip)
      name += " (libdeflate " LIBDEFLATE_VERSION_STRING ")";
#endif
#ifdef SHOAL_HAVE_ZSTD
    if (known.id == Filter::zstd) name += fmt::format(" ({})", ZSTD_versionString());
#endif
#ifdef SHOAL_HAVE_LZ4
    if (known.id == Filter::lz4) name += fmt::format(" ({})", lz4_version());
#endif
#ifdef SHOAL_HAVE_BLOSC
    if (known.id == Filter::blosc) name += fmt::format(" (c-blosc {})", blosc_version());
#endif
    names.push_back(name);
  }
  return names.empty() ? "none" : joined(names, ", ");
}

}  // namespace shoal
