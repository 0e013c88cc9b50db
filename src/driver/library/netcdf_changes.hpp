// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <netcdf.h>

#include <cstddef>
#include <vector>

#include "base/error.hpp"
#include "driver/library/netcdf_ids.hpp"
#include "format/schema.hpp"

namespace shoal {

/// Throws Error(not_supported) where netCDF-C 4.9 cannot make one of the changes in a netCDF-4 file. It loses
/// the values of a variable that gets the name of its dimension, or crashes; and where it renames a variable,
/// it removes the data set of its first dimension, which it does not find in another group.
inline void check_changes_by_netcdf(const Schema& in_file, const Schema& wanted) {
  const auto is_coordinate = [](const Schema& schema, std::size_t v) {
    const VariableDef& variable = schema.variables[v];
    return !variable.dims.empty() && schema.dim(variable.dims[0]).name == variable.name;
  };
  Schema before = in_file;
  for (const SchemaChange& change : wanted.changes) {
    if (change.kind == SchemaChange::Kind::rename_group)
      throw Error(Code::not_supported, "group '{}' is renamed by driver native alone", change.name);
    const Schema after = changed(before, {change});
    for (std::size_t v = 0; v < after.variables.size(); ++v)
      if (is_coordinate(after, v) && !is_coordinate(before, v))
        throw Error(Code::not_supported,
                    "it would get the name of its dimension, or the dimension its name, which the netCDF "
                    "library cannot do in a netCDF-4 file; rename with driver native")
            .of_variable(after.variables[v].name);
    if (change.kind == SchemaChange::Kind::rename_variable && !before.variables[change.index].dims.empty()) {
      const std::string& dim = before.dim(before.variables[change.index].dims[0]).name;
      if (group_of(dim) != group_of(change.name) && before.find_variable(dim) < 0)
        throw Error(Code::not_supported,
                    "its first dimension is '{}', in another group, and has no variable, so that the netCDF "
                    "library cannot rename it; rename with driver native",
                    dim)
            .of_variable(change.name);
    }
    before = after;
  }
}

/// A change of what a file has, by netCDF-C, in define mode; its error code. where: of the variable, or whose
/// attribute it is; of a dimension it is not looked at.
inline int change_by_netcdf(int file, NetcdfId where, const SchemaChange& change) {
  const std::string name = name_in_group(change.name), to = name_in_group(change.to);
  int dim = -1;
  switch (change.kind) {
    case SchemaChange::Kind::rename_dim: {
      int code = find_group_by_netcdf(file, group_of(change.name), &where.group);
      if (code == NC_NOERR) code = nc_inq_dimid(where.group, name.c_str(), &dim);
      return code != NC_NOERR ? code : nc_rename_dim(where.group, dim, to.c_str());
    }
    case SchemaChange::Kind::rename_variable:
      return nc_rename_var(where.group, where.variable, to.c_str());
    case SchemaChange::Kind::rename_group:
      return NC_EINVAL;  // check_changes_by_netcdf
    case SchemaChange::Kind::rename_attribute:
      return nc_rename_att(where.group, where.variable, change.name.c_str(), change.to.c_str());
    case SchemaChange::Kind::delete_attribute:
      return nc_del_att(where.group, where.variable, change.name.c_str());
  }
  return NC_NOERR;
}

/// An attribute, new or with other values, by netCDF-C, in define mode; its error code.
inline int put_attribute_by_netcdf(NetcdfId where, const Attribute& attribute) {
  const int file = where.group, variable = where.variable;
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
