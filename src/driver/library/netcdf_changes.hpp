// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <netcdf.h>

#include <cstddef>
#include <vector>

#include "base/error.hpp"
#include "format/schema.hpp"

namespace shoal {

/// netCDF-C 4.9 loses the values of a netCDF-4 variable that gets the name of its dimension, or crashes.
/// Throws Error(not_supported) where one would, at any of the changes.
inline void check_no_new_coordinates(const Schema& in_file, const Schema& wanted) {
  const auto is_coordinate = [](const Schema& schema, std::size_t v) {
    const VariableDef& variable = schema.variables[v];
    return !variable.dims.empty() && schema.dim(variable.dims[0]).name == variable.name;
  };
  Schema before = in_file;
  for (const SchemaChange& change : wanted.changes) {
    const Schema after = changed(before, {change});
    for (std::size_t v = 0; v < after.variables.size(); ++v)
      if (is_coordinate(after, v) && !is_coordinate(before, v))
        throw Error(Code::not_supported,
                    "it would get the name of its dimension, or the dimension its name, which the netCDF "
                    "library cannot do in a netCDF-4 file; rename with driver native")
            .of_variable(after.variables[v].name);
    before = after;
  }
}

/// A change of what a file has, by netCDF-C, in define mode; its error code. variable: its number there, or
/// NC_GLOBAL.
inline int change_by_netcdf(int file, int variable, const SchemaChange& change) {
  const char* name = change.name.c_str();
  const char* to = change.to.c_str();
  int dim = -1;
  switch (change.kind) {
    case SchemaChange::Kind::rename_dim: {
      const int code = nc_inq_dimid(file, name, &dim);
      return code != NC_NOERR ? code : nc_rename_dim(file, dim, to);
    }
    case SchemaChange::Kind::rename_variable:
      return nc_rename_var(file, variable, to);
    case SchemaChange::Kind::rename_attribute:
      return nc_rename_att(file, variable, name, to);
    case SchemaChange::Kind::delete_attribute:
      return nc_del_att(file, variable, name);
  }
  return NC_NOERR;
}

/// An attribute, new or with other values, by netCDF-C, in define mode; its error code. variable: its number
/// there, or NC_GLOBAL.
inline int put_attribute_by_netcdf(int file, int variable, const Attribute& attribute) {
  const char* name = attribute.name.c_str();
  const auto count = static_cast<std::size_t>(attribute.count());
  // One that gets no values keeps some bytes of those that it had, in netCDF-C 4.9.0.
  if (count == 0 && nc_inq_attid(file, variable, name, nullptr) == NC_NOERR)
    if (const int code = nc_del_att(file, variable, name); code != NC_NOERR) return code;
  if (attribute.type != Type::string)
    return nc_put_att(file, variable, name, static_cast<nc_type>(attribute.type), count,
                      attribute.data.data());
  std::vector<const char*> texts;
  for (const auto& text : attribute.strings)
    texts.push_back(text.c_str());
  return nc_put_att_string(file, variable, name, count, texts.data());
}

}  // namespace shoal
