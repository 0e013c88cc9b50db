#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "driver/registry.hpp"

namespace shoal::testing {

/// The driver of settings "driver=gather, format=cdf5", and its format: are they in this build? Without
/// netCDF's library gather has raw and ascii alone.
inline bool in_this_build(const std::string& settings) {
  const auto word = [&](const std::string& key, const std::string& otherwise) {
    const auto at = settings.find(key);
    if (at == std::string::npos) return otherwise;
    const auto begin = at + key.size();
    return settings.substr(begin, settings.find(',', begin) - begin);
  };
  const std::string driver = word("driver=", "native");
  const std::string format = word("format=", driver == "netcdf" ? "netcdf4" : "cdf5");
  for (const auto& kind : registered_drivers()) {
    const auto formats = formats_of(kind);
    if (kind.name == driver)
      return kind.make != nullptr && std::find(formats.begin(), formats.end(), format) != formats.end();
  }
  return false;
}

inline std::vector<std::string> in_this_build(std::vector<std::string> all) {
  std::erase_if(all, [](const std::string& settings) { return !in_this_build(settings); });
  return all;
}

}  // namespace shoal::testing
