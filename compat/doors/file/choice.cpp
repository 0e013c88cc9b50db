// SPDX-License-Identifier: BSD-3-Clause
#include "file/choice.hpp"

#include <fnmatch.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "file/file.hpp"

namespace door {

namespace {

// Modes of files that Shoal does not have.
constexpr int k_not_served = NC_DISKLESS | NC_MMAP | NC_INMEMORY | NC_PERSIST | NC_UDF0 | NC_UDF1 |
                             NC_NOATTCREORD | NC_NODIMSCALE_ATTACH;

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

}  // namespace

Choice choose(const char* path, int mode, bool makes, MPI_Comm comm) {
  const char* asked = std::getenv("SHOAL_DOORS");
  const std::string which = asked == nullptr || *asked == '\0' ? "write" : asked;
  if (which == "off") return {};
  if (which != "write" && which != "all") return {false, "", refuse(comm, asked)};
  if (!makes && which == "write" && (mode & NC_WRITE) == 0) return {};
  if (path == nullptr) return {};
  const char* patterns = std::getenv("SHOAL_DOORS_FILES");
  if (patterns != nullptr && *patterns != '\0' && !matches(patterns, path)) return {};
  if ((mode & k_not_served) != 0) return {false, "its mode is for netCDF alone", NC_NOERR};
  if (std::strstr(path, "://") != nullptr || std::strstr(path, "#mode=") != nullptr)
    return {false, "it is no file but an address", NC_NOERR};
  const int formats = mode & (NC_NETCDF4 | NC_64BIT_OFFSET | NC_64BIT_DATA);
  const bool classic_model = (mode & NC_CLASSIC_MODEL) != 0 && (formats & NC_NETCDF4) == 0;
  if (makes && (std::popcount(static_cast<unsigned>(formats)) > 1 || classic_model))
    return {false, "its mode names no format", NC_NOERR};
  return {true, "", NC_NOERR};
}

int format_of(int mode) {
  if ((mode & NC_NETCDF4) != 0)
    return (mode & NC_CLASSIC_MODEL) != 0 ? NC_FORMAT_NETCDF4_CLASSIC : NC_FORMAT_NETCDF4;
  if ((mode & NC_64BIT_DATA) != 0) return NC_FORMAT_64BIT_DATA;
  if ((mode & NC_64BIT_OFFSET) != 0) return NC_FORMAT_64BIT_OFFSET;
  int usual = NC_FORMAT_CLASSIC, again = 0;
  if (program().set_default_format != nullptr &&
      program().set_default_format(NC_FORMAT_CLASSIC, &usual) == NC_NOERR)
    program().set_default_format(usual, &again);
  return usual;
}

}  // namespace door
