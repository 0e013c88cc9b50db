// SPDX-License-Identifier: BSD-3-Clause
#include "format/stored_filters.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "codec/blosc.hpp"

namespace shoal {

namespace {

constexpr int k_most_of_zlib = 9;  // Zarr's levels of gzip and blosc end there
constexpr int k_most_of_zstd = 22;
constexpr int k_level_of_lz4 = 5;  // of blosc, as numcodecs has it

/// What compresses is one step, and the others stand around it.
struct Parts {
  bool shuffle = false, checksum = false;
  std::optional<Filter> compression;
};

// blosc at level N below 9 is zstd at level 2 N - 1, at level 9 zstd's last one.
int level_of_blosc(int zstd) {
  return zstd >= 20 ? 9 : std::min((zstd + 1) / 2, 8);
}
int level_of_zstd(int blosc) {
  return blosc >= 9 ? k_most_of_zstd : std::max(2 * blosc - 1, 1);
}

bool is_netcdf4s(const Filter& filter) {
  return filter.id < Filter::gzip;
}

Parts parts_of_filters(const Filters& filters) {
  Parts parts;
  for (const auto& filter : filters) {
    if (filter.id == Filter::shuffle)
      parts.shuffle = true;
    else if (is_checksum(filter))
      parts.checksum = true;
    else if (compresses(filter) && !parts.compression)
      parts.compression = filter;
    else
      throw Error(
          Code::not_supported,
          "compression {} cannot be stored by format zarr; choose zstd:1, gzip:1 or blosc:zstd:5, with "
          "+crc32c behind it for a checksum",
          text_of(filters));
  }
  return parts;
}

Filter in_blosc(const char* compressor, int level, bool shuffle) {
  return *blosc_filter(compressor, level, shuffle ? "shuffle" : "noshuffle");
}

// The compression in Zarr, and whether what was asked for has a checksum of its own that this has not.
std::pair<Filter, bool> in_zarr(const Filter& filter, bool shuffle) {
  switch (filter.id) {
    case Filter::zstd:
      if (!shuffle) return {filter, false};
      return {in_blosc("zstd", level_of_blosc(filter.level), true), true};
    case Filter::deflate:
    case Filter::gzip: {
      const int level = std::min(filter.level, k_most_of_zlib);
      if (!shuffle) return {{Filter::gzip, level}, false};
      return {in_blosc("zlib", level, true), true};
    }
    case Filter::lz4:
      return {in_blosc("lz4", k_level_of_lz4, shuffle), false};
    default:  // blosc: with shuffle in front of it, it has none of its own
      return {shuffle ? in_blosc(blosc_compressor_of(filter).c_str(), filter.level, true) : filter, false};
  }
}

}  // namespace

Filters as_zarr_has_them(const Filters& asked) {
  Parts parts = parts_of_filters(asked);
  if (parts.shuffle && !parts.compression)
    throw Error(
        Code::not_supported,
        "compression {}: format zarr shuffles where it compresses alone; choose shuffle+zstd:1, or leave "
        "shuffle out",
        text_of(asked));
  Filters stored;
  if (parts.compression) {
    const auto [compression, lacks_checksum] = in_zarr(*parts.compression, parts.shuffle);
    stored.push_back(compression);
    parts.checksum = parts.checksum || lacks_checksum;
  }
  if (parts.checksum) stored.push_back({Filter::crc32c});
  if (const auto missing = missing_code(stored); !missing.empty())
    throw Error(Code::not_supported, "compression {}{} cannot be written: {}; choose one of: {}",
                text_of(asked), stored == asked ? "" : ", which is " + text_of(stored) + " in format zarr,",
                missing, filters_of_build(true));
  return stored;
}

Filters nearest_in_netcdf4(const Filters& filters) {
  Filters nearest;
  for (const auto& filter : filters) {
    if (filter.id == Filter::gzip) {
      nearest.push_back({Filter::deflate, std::max(filter.level, 1)});
    } else if (filter.id == Filter::lz4) {
      nearest.push_back({Filter::zstd, 1});
    } else if (filter.id == Filter::crc32c) {
      nearest.push_back({Filter::fletcher32});
    } else if (filter.id == Filter::blosc) {
      if (blosc_shuffle_of(filter) != "noshuffle") nearest.push_back({Filter::shuffle});
      const auto& compressor = blosc_compressor_of(filter);
      if (compressor == "zlib")
        nearest.push_back({Filter::deflate, std::max(filter.level, 1)});
      else
        nearest.push_back({Filter::zstd, compressor == "zstd" ? level_of_zstd(filter.level) : 1});
    } else {
      nearest.push_back(filter);
    }
  }
  return nearest;
}

Filters as_netcdf4_has_them(const Filters& asked) {
  const auto strange = std::find_if_not(asked.begin(), asked.end(), is_netcdf4s);
  if (strange != asked.end())
    throw Error(Code::not_supported,
                "compression {}: {} is a codec of Zarr, which netCDF-4 files and their readers have not; "
                "choose {}",
                text_of(asked), name_of(*strange), text_of(nearest_in_netcdf4(asked)));
  return asked;
}

}  // namespace shoal
