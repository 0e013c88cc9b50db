// SPDX-License-Identifier: BSD-3-Clause
// Filters that formats store for those that were asked for.
#include <doctest/doctest.h>

#include "base/error.hpp"
#include "codec/filters.hpp"
#include "format/format_traits.hpp"
#include "format/stored_filters.hpp"

namespace {

using namespace shoal;

std::string in_zarr(const char* asked) {
  return text_of(as_zarr_has_them(filters_of(asked)));
}

std::string refusal_of(Filters (*format)(const Filters&), const Filters& asked) {
  try {
    return "taken as " + text_of(format(asked));
  } catch (const Error& e) {
    CHECK(e.code() == Code::not_supported);
    return e.what();
  }
}

bool has_all() {
  return missing_code(filters_of("gzip+crc32c")).empty() && missing_code(filters_of("zstd")).empty() &&
         missing_code(filters_of("blosc:zstd")).empty() && missing_code(filters_of("blosc:zlib")).empty();
}

TEST_CASE("stored filters: netcdf4 has HDF5's, and says what comes near to others") {
  for (const char* text : {"none", "shuffle", "shuffle+deflate:12+fletcher32", "zstd:22"}) {
    CHECK(as_netcdf4_has_them(filters_of(text)) == filters_of(text));
    for (const Format format : {Format::netcdf4, Format::netcdf4_classic})
      CHECK(traits_of(format).stored_filters(filters_of(text)) == filters_of(text));
  }
  for (const auto& [asked, nearest] : {std::pair<const char*, const char*>{"gzip:6", "deflate:6"},
                                       {"gzip:0", "deflate:1"},
                                       {"lz4", "zstd:1"},
                                       {"zstd:3+crc32c", "zstd:3+fletcher32"},
                                       {"blosc:zstd:5", "shuffle+zstd:9"},
                                       {"blosc:zstd:9+crc32c", "shuffle+zstd:22+fletcher32"},
                                       {"blosc:zstd:0:noshuffle", "zstd:1"},
                                       {"blosc:zlib:0:bitshuffle", "shuffle+deflate:1"},
                                       {"shuffle+blosc:lz4:9:noshuffle", "shuffle+zstd:1"}}) {
    CAPTURE(asked);
    const Filters filters = filters_of(asked);
    CHECK(nearest_in_netcdf4(filters) == filters_of(nearest));
    for (const Format format : {Format::netcdf4, Format::netcdf4_classic}) {
      const std::string refusal = refusal_of(traits_of(format).filters, filters);
      CHECK(refusal.find("is a codec of Zarr, which netCDF-4 files and their readers have not; choose " +
                         std::string(nearest)) != std::string::npos);
    }
  }
}

TEST_CASE("stored filters: zarr has counterparts of netCDF-4's, with a checksum where those had one") {
  if (!has_all()) return;
  for (const auto& [asked, stored] : {std::pair<const char*, const char*>{"none", "none"},
                                      {"zstd:3", "zstd:3"},
                                      {"deflate:1", "gzip:1"},
                                      {"deflate:12", "gzip:9"},
                                      {"deflate:4+fletcher32", "gzip:4+crc32c"},
                                      {"fletcher32", "crc32c"},
                                      {"shuffle+zstd:1", "blosc:zstd:1+crc32c"},
                                      {"shuffle+zstd:2", "blosc:zstd:1+crc32c"},
                                      {"shuffle+zstd:3", "blosc:zstd:2+crc32c"},
                                      {"shuffle+zstd:9", "blosc:zstd:5+crc32c"},
                                      {"shuffle+zstd:19", "blosc:zstd:8+crc32c"},
                                      {"shuffle+zstd:22+fletcher32", "blosc:zstd:9+crc32c"},
                                      {"shuffle+deflate:1", "blosc:zlib:1+crc32c"},
                                      {"shuffle+deflate:12", "blosc:zlib:9+crc32c"},
                                      {"shuffle+gzip:0", "blosc:zlib:0+crc32c"},
                                      {"lz4", "blosc:lz4:5:noshuffle"},
                                      {"shuffle+lz4", "blosc:lz4:5"},
                                      {"gzip:6", "gzip:6"},
                                      {"crc32c+zstd:22", "zstd:22+crc32c"},
                                      {"blosc:zstd:5", "blosc:zstd:5"},
                                      {"blosc:lz4:1:bitshuffle+crc32c", "blosc:lz4:1:bitshuffle+crc32c"},
                                      {"shuffle+blosc:lz4:3:noshuffle", "blosc:lz4:3"}}) {
    CAPTURE(asked);
    CHECK(in_zarr(asked) == stored);
    CHECK(in_zarr(stored) == stored);  // is the same once more
    CHECK(missing_code(filters_of(stored)).empty());
  }
  for (const char* alone : {"shuffle", "shuffle+fletcher32"})
    CHECK(
        refusal_of(as_zarr_has_them, filters_of(alone)).find("choose shuffle+zstd:1, or leave shuffle out") !=
        std::string::npos);
  for (const Filters& strange : {Filters{{307}}, Filters{{Filter::zstd, 1}, {Filter::gzip, 1}}})
    CHECK(refusal_of(as_zarr_has_them, strange).find("cannot be stored by format zarr; choose zstd:1") !=
          std::string::npos);
}

// What the names say is what is stored.
TEST_CASE("stored filters: levels of blosc and of zstd, there and back") {
  for (int level = 1; level <= 22; ++level) {
    const Filters asked = filters_of("shuffle+zstd:" + std::to_string(level));
    if (!has_all()) return;
    Filters again = nearest_in_netcdf4(as_zarr_has_them(asked));
    REQUIRE(again.size() == 3);
    CHECK(std::abs(again[1].level - level) <= (level < 17 ? 1 : 4));
    CHECK(again[1].level <= std::max(level, 1) + (level >= 20 ? 2 : 0));
  }
}

}  // namespace
