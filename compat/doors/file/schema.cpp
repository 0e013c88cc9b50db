// SPDX-License-Identifier: BSD-3-Clause
#include "file/schema.hpp"

#include <cstring>
#include <string_view>

namespace door {

namespace {

int format_of(std::string_view name) {
  if (name == "cdf1") return NC_FORMAT_CLASSIC;
  if (name == "cdf2") return NC_FORMAT_64BIT_OFFSET;
  if (name == "cdf5") return NC_FORMAT_64BIT_DATA;
  if (name == "netcdf4") return NC_FORMAT_NETCDF4;
  if (name == "zarr" || name == "zarr2") return NC_FORMAT_NETCDF4;  // of that model
  if (name == "netcdf4-classic") return NC_FORMAT_NETCDF4_CLASSIC;
  return 0;
}

// Filters as Shoal names them; false: one that the door does not tell.
bool read_filters(std::string_view filters, Variable& var) {
  while (!filters.empty() && filters != "none") {
    const std::size_t plus = filters.find('+');
    const std::string_view filter = filters.substr(0, plus);
    const std::size_t colon = filter.find(':');
    const std::string_view name = filter.substr(0, colon);
    const std::string level(colon == std::string_view::npos ? std::string_view() : filter.substr(colon + 1));
    if (name == "shuffle") {
      var.shuffle = true;
    } else if (name == "fletcher32") {
      var.fletcher32 = true;
    } else if (name == "deflate") {
      var.deflate = std::atoi(level.c_str());
    } else if (name == "zstd") {
      var.has_zstandard = true;
      var.zstandard = std::atoi(level.c_str());
    } else {
      return false;
    }
    filters.remove_prefix(plus == std::string_view::npos ? filters.size() : plus + 1);
  }
  return true;
}

bool read_attributes(shoal_dataset* dataset, const char* var, Attributes& attributes, int count) {
  for (int i = 0; i < count; ++i) {
    shoal_att_info info = SHOAL_ATT_INFO_INIT;
    if (shoal_inq_att(dataset, var, i, &info) != SHOAL_OK) return false;
    if (info.type < NC_BYTE || info.type > NC_STRING) return false;
    Attribute attribute{info.name, info.type, static_cast<std::size_t>(info.count), {}, {}};
    if (info.type == NC_STRING) {
      std::vector<char*> strings(attribute.count);
      if (shoal_get_att(dataset, var, info.name, SHOAL_STRING, strings.data()) != SHOAL_OK) return false;
      attribute.strings.assign(strings.begin(), strings.end());
      shoal_free_strings(info.count, strings.data());
    } else {
      attribute.bytes.resize(attribute.count * size_of(info.type));
      if (attribute.count > 0 &&
          shoal_get_att(dataset, var, info.name, info.type, attribute.bytes.data()) != SHOAL_OK)
        return false;
    }
    attributes.push_back(std::move(attribute));
  }
  return true;
}

// Of a store not all that it has is told: netCDF has no names for its filters.
bool read_variable(shoal_dataset* dataset, Definitions& definitions, int index, bool is_store) {
  shoal_var_info info = SHOAL_VAR_INFO_INIT;
  if (shoal_inq_var(dataset, index, &info) != SHOAL_OK) return false;
  Variable var;
  var.name = info.name;
  if (is_store && var.name.find('/') != std::string::npos) return false;  // in a group
  var.type = info.type;
  var.made = true;
  var.number = index;
  var.dims.assign(info.dims, info.dims + info.ndims);
  for (std::size_t i = 1; i < var.dims.size(); ++i)
    if (definitions.dims[static_cast<std::size_t>(var.dims[i])].unlimited) return false;
  if (info.chunks != nullptr) {
    var.storage = NC_CHUNKED;
    var.chunks.assign(info.chunks, info.chunks + info.ndims);
  }
  const std::string_view storage(info.storage);
  if (storage != "contiguous" && storage != "chunked" && storage != "compressed") return false;
  if (!read_filters(info.filters, var) && !is_store) return false;
  if (var.type < NC_BYTE || var.type > NC_UINT64) return false;
  int fill = 1;
  if (shoal_inq_fill(dataset, info.name, &fill, info.type, nullptr) == SHOAL_OK)
    var.no_fill = fill == 0 ? 1 : 0;
  const int attributes = info.attributes;
  if (!read_attributes(dataset, var.name.c_str(), var.attributes, attributes)) return false;
  definitions.vars.push_back(std::move(var));
  return true;
}

}  // namespace

bool read_schema(shoal_dataset* dataset, Definitions& definitions, int& format) {
  shoal_file_info info = SHOAL_FILE_INFO_INIT;
  if (shoal_inq_file(dataset, &info) != SHOAL_OK) return false;
  format = format_of(info.format);
  if (format == 0) return false;
  for (int i = 0; i < info.dimensions; ++i) {
    shoal_dim_info dim = SHOAL_DIM_INFO_INIT;
    if (shoal_inq_dim(dataset, i, &dim) != SHOAL_OK) return false;
    definitions.dims.push_back(
        {dim.name, dim.unlimited != 0 ? 0 : static_cast<std::size_t>(dim.length), dim.unlimited != 0});
  }
  const bool is_store = std::string_view(info.format).substr(0, 4) == "zarr";
  for (int i = 0; i < info.variables; ++i)
    if (!read_variable(dataset, definitions, i, is_store)) return false;
  return read_attributes(dataset, nullptr, definitions.attributes, info.attributes);
}

}  // namespace door
