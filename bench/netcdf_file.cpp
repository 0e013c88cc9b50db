// SPDX-License-Identifier: BSD-3-Clause
#include "netcdf_file.hpp"

#ifdef SHOAL_HAVE_NETCDF

#include <netcdf.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "shoal_check.hpp"

namespace shoal::bench {

void check_netcdf(int status, const std::string& what, const std::string& path) {
  if (status != NC_NOERR)
    throw std::runtime_error("netCDF-C: " + what + " in " + path + ": " + nc_strerror(status));
}

std::string netcdf_name(const std::string& path, const std::string& format) {
  if (format != "nczarr") return path;
  return "file://" + std::filesystem::absolute(path).string() + "#mode=nczarr,file";
}

int netcdf_create_mode(const std::string& format) {
  if (format == "cdf2") return NC_64BIT_OFFSET;
  if (format == "cdf5") return NC_64BIT_DATA;
  if (format == "netcdf4") return NC_NETCDF4;
  if (format == "nczarr") return NC_NETCDF4;
  if (format == "netcdf4-classic") return NC_NETCDF4 | NC_CLASSIC_MODEL;
  return 0;
}

namespace {

// The level of "shuffle+deflate:1"; 0: nothing is compressed.
int deflate_level(const std::string& compression) {
  const std::string deflate = "shuffle+deflate:";
  if (compression.empty()) return 0;
  const int level = compression.rfind(deflate, 0) == 0 ? std::atoi(compression.c_str() + deflate.size()) : 0;
  if (level < 1 || level > 9)
    throw Refused("netCDF-C alone compresses by shuffle+deflate:1 to 9 here, and is asked for " +
                  compression);
  return level;
}

}  // namespace

std::vector<int> define_netcdf(int file, const Content& content, const std::string& path,
                               const std::string& compression) {
  const int level = deflate_level(compression);
  int format = 0, before = 0;
  check_netcdf(nc_inq_format(file, &format), "format", path);
  check_netcdf(nc_set_fill(file, NC_NOFILL, &before), "no fill", path);
  const auto ids = define_all(
      content,
      [&](const Dimension& d) {
        int id = -1;
        check_netcdf(nc_def_dim(file, d.name.c_str(),
                                d.length == 0 ? NC_UNLIMITED : static_cast<std::size_t>(d.length), &id),
                     "dimension " + d.name, path);
        return id;
      },
      [&](const Field& field, const std::vector<int>& dims) {
        int id = -1;
        check_netcdf(nc_def_var(file, field.name.c_str(), static_cast<nc_type>(field.type),
                                static_cast<int>(dims.size()), dims.data(), &id),
                     "variable " + field.name, path);
        if (level > 0 && field.distributed)
          check_netcdf(nc_def_var_deflate(file, id, 1, 1, level), "compression of " + field.name, path);
        return id;
      },
      [&](int id, const std::string& what, const std::string& key, const std::string& value) {
        check_netcdf(nc_put_att_text(file, id, key.c_str(), value.size(), value.c_str()), what, path);
      });
  check_netcdf(nc_enddef(file), "end of definitions", path);
  return ids;
}

int find_netcdf_variable(int file, const Field& field, const std::string& path) {
  int id = -1;
  check_netcdf(nc_inq_varid(file, field.name.c_str(), &id), "variable " + field.name, path);
  return id;
}

}  // namespace shoal::bench

#endif
