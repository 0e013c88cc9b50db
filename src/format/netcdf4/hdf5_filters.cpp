// SPDX-License-Identifier: BSD-3-Clause
// Filters as HDF5 has them. For zstd, which is no part of it, it gets Shoal's code, so that what Shoal does
// through HDF5 and netCDF-C needs no plugin.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "base/bytes.hpp"
#include "format/netcdf4/contents.hpp"

namespace shoal::netcdf4 {

namespace {

constexpr int k_most_level_of_zlib = 9;

// Called by HDF5: 0 says that it did not work.
std::size_t filter_zstd(unsigned flags, std::size_t count, const unsigned values[], std::size_t bytes,
                        std::size_t* capacity, void** buffer) {
  try {
    const std::span<const std::byte> given(static_cast<const std::byte*>(*buffer), bytes);
    const Bytes result = (flags & H5Z_FLAG_REVERSE) != 0
                             ? unzstd(given)
                             : zstd(given, count > 0 ? static_cast<int>(values[0]) : 1);
    if (result.size() > *capacity) {
      void* larger = std::realloc(*buffer, result.size());  // as HDF5's own filters do
      if (larger == nullptr) return 0;
      *buffer = larger;
      *capacity = result.size();
    }
    std::copy(result.begin(), result.end(), static_cast<std::byte*>(*buffer));
    return result.size();
  } catch (const std::exception&) {
    return 0;
  }
}

}  // namespace

void provide_filters() {
  if (!missing_code({{Filter::zstd, 1}}).empty() || H5Zfilter_avail(Filter::zstd) > 0) return;
  static const H5Z_class2_t k_zstd{H5Z_CLASS_T_VERS, Filter::zstd, 1,       1,
                                   "zstd",           nullptr,      nullptr, filter_zstd};
  check(H5Zregister(&k_zstd), "take the filter zstd");
}

Filters filters_of(hid_t properties) {
  Filters filters;
  const int n = H5Pget_nfilters(properties);
  for (int i = 0; i < n; ++i) {
    unsigned flags = 0, config = 0;
    std::array<unsigned, 8> values{};
    std::size_t count = values.size();
    char name[8] = "";
    const auto id = H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &count, values.data(),
                                   sizeof name, name, &config);
    const bool has_level = id == Filter::deflate || id == Filter::zstd;
    filters.push_back({id, has_level && count > 0 ? static_cast<int>(values[0]) : 0});
  }
  return filters;
}

// Optional: a chunk that does not shrink is stored without.
void set_filters(hid_t creation, const Filters& filters) {
  for (const auto& filter : filters) {
    // Readers know zlib's levels; those above tell the encoder how hard to try.
    const unsigned level = static_cast<unsigned>(
        filter.id == Filter::deflate ? std::min(filter.level, k_most_level_of_zlib) : filter.level);
    const bool leveled = filter.level > 0;
    const unsigned flags = filter.id == Filter::fletcher32 ? H5Z_FLAG_MANDATORY : H5Z_FLAG_OPTIONAL;
    check(H5Pset_filter(creation, filter.id, flags, leveled ? 1 : 0, leveled ? &level : nullptr),
          "set a filter");
  }
}

}  // namespace shoal::netcdf4
