// SPDX-License-Identifier: BSD-3-Clause
#include "file/wanted.hpp"

#include <fnmatch.h>
#include <netcdf.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace door {

namespace {

bool matches(const char* patterns, const char* path) {
  const char* slash = std::strrchr(path, '/');
  const char* name = slash == nullptr ? path : slash + 1;
  std::string_view rest(patterns);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string pattern(rest.substr(0, comma));
    if (!pattern.empty() && fnmatch(pattern.c_str(), name, 0) == 0) return true;
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return false;
}

int refuse(MPI_Comm comm, const char* value) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) std::fprintf(stderr, "shoal: SHOAL_DOORS is '%s'; allowed are off, write and all\n", value);
  return NC_EINVAL;
}

// Programs ask netCDF for types and fill values, which would not be theirs if Shoal packed; and they say the
// formats of their files.
void warn_of_settings(MPI_Comm comm) {
  static bool warned = false;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const auto warn = [&](const char* name, const char* allowed, const char* why) {
    const char* const value = std::getenv(name);
    if (rank == 0 && value != nullptr && *value != '\0' && std::strcmp(value, allowed) != 0)
      std::fprintf(stderr, "shoal: %s is '%s', and %s; it is for Shoal's own calls\n", name, value, why);
  };
  if (std::exchange(warned, true)) return;
  warn("SHOAL_PACK", "none", "netCDF's calls do not pack");
  warn("SHOAL_FORMAT", "zarr", "only zarr can replace the formats that a program asks netCDF for");
}

}  // namespace

bool is_wanted(const char* path, bool writes, MPI_Comm comm, int& code) {
  const char* asked = std::getenv("SHOAL_DOORS");
  const std::string which = asked == nullptr || *asked == '\0' ? "write" : asked;
  if (which == "off") return false;
  if (which != "write" && which != "all") {
    code = refuse(comm, asked);
    return false;
  }
  if (!writes && which == "write") return false;
  const char* patterns = std::getenv("SHOAL_DOORS_FILES");
  const bool wanted = patterns == nullptr || *patterns == '\0' || matches(patterns, path);
  if (wanted) warn_of_settings(comm);
  return wanted;
}

}  // namespace door
