// SPDX-License-Identifier: BSD-3-Clause
#include "netcdf_file.hpp"

#ifdef SHOAL_HAVE_NETCDF

#include <netcdf.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace shoal::bench {

void check_netcdf(int status, const std::string& what, const std::string& path) {
  if (status != NC_NOERR)
    throw std::runtime_error("netCDF-C: " + what + " in " + path + ": " + nc_strerror(status));
}

int netcdf_create_mode(const std::string& format) {
  if (format == "cdf2") return NC_64BIT_OFFSET;
  if (format == "cdf5") return NC_64BIT_DATA;
  if (format == "netcdf4") return NC_NETCDF4;
  if (format == "netcdf4-classic") return NC_NETCDF4 | NC_CLASSIC_MODEL;
  return 0;
}

std::vector<int> define_netcdf(int file, const Content& content, const std::string& path) {
  int format = 0, before = 0;
  check_netcdf(nc_inq_format(file, &format), "format", path);
  check_netcdf(nc_set_fill(file, NC_NOFILL, &before), "no fill", path);
  std::map<std::string, int> dims;
  for (const auto& d : content.dimensions)
    check_netcdf(nc_def_dim(file, d.name.c_str(),
                            d.length == 0 ? NC_UNLIMITED : static_cast<std::size_t>(d.length), &dims[d.name]),
                 "dimension " + d.name, path);
  std::vector<int> ids;
  for (const auto& field : content.fields) {
    std::vector<int> of;
    for (const auto& name : field.dims)
      of.push_back(dims[name]);
    int id = -1;
    check_netcdf(nc_def_var(file, field.name.c_str(), static_cast<nc_type>(field.type),
                            static_cast<int>(of.size()), of.data(), &id),
                 "variable " + field.name, path);
    for (const auto& [key, value] : field.attributes)
      check_netcdf(nc_put_att_text(file, id, key.c_str(), value.size(), value.c_str()),
                   "attribute " + field.name + ":" + key, path);
    ids.push_back(id);
  }
  check_netcdf(nc_enddef(file), "end of definitions", path);
  return ids;
}

std::vector<int> find_netcdf_variables(int file, const Content& content, const std::string& path) {
  std::vector<int> ids;
  for (const auto& field : content.fields) {
    ids.push_back(-1);
    check_netcdf(nc_inq_varid(file, field.name.c_str(), &ids.back()), "variable " + field.name, path);
  }
  return ids;
}

NetcdfSection netcdf_section(const Field& field, const Tile& tile, std::int64_t record) {
  auto s = netcdf_whole(field, record);
  const auto n = s.start.size();
  s.start[n - 1] = static_cast<std::size_t>(tile.first_column);
  s.count[n - 1] = static_cast<std::size_t>(tile.columns);
  if (field.cut == 2) {
    s.start[n - 2] = static_cast<std::size_t>(tile.first_row);
    s.count[n - 2] = static_cast<std::size_t>(tile.rows);
  }
  if (tile.empty()) std::fill(s.count.begin(), s.count.end(), 0);
  return s;
}

NetcdfSection netcdf_whole(const Field& field, std::int64_t record) {
  NetcdfSection s;
  if (field.record) {
    s.start.push_back(static_cast<std::size_t>(record));
    s.count.push_back(1);
  }
  for (const auto n : field.shape) {
    s.start.push_back(0);
    s.count.push_back(static_cast<std::size_t>(n));
  }
  // netCDF takes pointers even of scalars.
  if (s.start.empty()) s = {{0}, {1}};
  return s;
}

}  // namespace shoal::bench

#endif
