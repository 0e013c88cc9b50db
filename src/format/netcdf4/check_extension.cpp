// SPDX-License-Identifier: BSD-3-Clause
// What a netCDF-4 file can be brought to.
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "format/checks.hpp"
#include "format/group_paths.hpp"
#include "format/netcdf4/attributes.hpp"
#include "format/netcdf4/contents.hpp"

namespace shoal::netcdf4 {

namespace {

constexpr std::int64_t k_largest_chunk = (std::int64_t{1} << 32) - 1;  // bytes; HDF5 keeps them in 32 bits

void check_attribute(const Attribute& attribute, Format format) {
  check_name(attribute.name, "attribute");
  if (is_reserved(attribute.name))
    throw Error(Code::invalid_argument,
                "the attribute name '{}' is kept for netCDF-4's own use; choose another", attribute.name);
  if (!holds(format, attribute.type))
    throw Error(Code::type, "the attribute '{}' has the type {}, which {} cannot hold{}", attribute.name,
                name_of(attribute.type), name_of(format),
                format == Format::netcdf4_classic ? "; netcdf4 can" : "");
}

// What cells that nobody wrote have been read as all along.
bool is_default_fill(const Attribute& fill, Type type) {
  const void* standard = default_fill(type);
  return standard != nullptr && fill.type == type && fill.data.size() == size_of(type) &&
         std::memcmp(fill.data.data(), standard, fill.data.size()) == 0;
}

void check_attributes(const std::vector<Attribute>& have, const std::vector<Attribute>& wanted, Format format,
                      const VariableDef* variable, bool is_new, LateFill late = LateFill::refused) {
  for (const auto& attribute : wanted) {
    const auto* old = find_attribute(have, attribute.name);
    if (old != nullptr && have_same_values(*old, attribute)) continue;
    check_attribute(attribute, format);
    if (!is_new && attribute.name == "_FillValue" && variable != nullptr) {
      if (late == LateFill::as_used && old == nullptr &&
          (variable->no_fill || is_default_fill(attribute, variable->type)))
        continue;
      throw Error(Code::not_supported,
                  "the fill value of a variable in a netcdf4 file cannot change after the variable was made; "
                  "set _FillValue before the first write");
    }
  }
}

void check_kept_name(const std::string& path) {
  if (const std::string name = name_in_group(path); name.rfind(k_non_coordinate, 0) == 0)
    throw Error(Code::invalid_argument, "names that begin with {} are kept for netCDF-4's own use",
                k_non_coordinate);
}

// Links of groups move before those of variables and dimensions: none may get a name that the others give up.
void check_swapped(const Schema& in_file, const std::vector<SchemaChange>& changes) {
  const auto of_group = [](const SchemaChange& c) { return c.kind == SchemaChange::Kind::rename_group; };
  if (std::none_of(changes.begin(), changes.end(), of_group)) return;
  const Schema after = changed(in_file, changes);
  std::set<std::string> groups, others;
  for (const auto& group : in_file.groups)
    groups.insert(group.name);
  for (const auto& variable : in_file.variables)
    others.insert(variable.name);
  for (const auto& dim : in_file.dims)
    others.insert(dim.name);
  const auto check = [](const auto& was, const auto& is, const std::set<std::string>& taken) {
    for (std::size_t i = 0; i < was.size(); ++i)
      if (taken.contains(path_in(group_of(was[i].name), name_in_group(is[i].name))))
        throw Error(
            Code::not_supported,
            "'{}' cannot be renamed to '{}' in the same define phase in which a group gives up, or gets, "
            "that name; finish the first definition (end_define) before",
            was[i].name, is[i].name);
  };
  check(in_file.groups, after.groups, others);
  check(in_file.variables, after.variables, groups);
  check(in_file.dims, after.dims, groups);
}

// What the file's own has names of. Those that are given to what has none are not those of links.
void check_changes(const Schema& in_file, const Schema& wanted) {
  for (const SchemaChange& change : wanted.changes) {
    if (change.kind == SchemaChange::Kind::rename_attribute && is_reserved(change.to))
      throw Error(Code::invalid_argument,
                  "the attribute name '{}' is kept for netCDF-4's own use; choose another", change.to);
    if (change.kind == SchemaChange::Kind::rename_attribute ||
        change.kind == SchemaChange::Kind::delete_attribute)
      continue;
    check_kept_name(change.to);
    if (group_of(change.name) != group_of(change.to))
      throw Error(Code::invalid_argument, "'{}' cannot be renamed to '{}', which is in another group",
                  change.name, change.to);
    if (change.name.rfind("phony_dim_", 0) == 0)
      throw Error(Code::not_supported, "'{}' cannot be renamed: in the file it has no name at all",
                  change.name);
  }
  check_swapped(in_file, wanted.changes);
  const auto is_coordinate = [](const Schema& schema, std::size_t v) {
    const VariableDef& variable = schema.variables[v];
    return !variable.dims.empty() && schema.dim(variable.dims[0]).name == variable.name;
  };
  for (std::size_t v = 0; v < in_file.variables.size(); ++v)
    if (in_file.variables[v].dims.size() > 1 && is_coordinate(wanted, v) && !is_coordinate(in_file, v))
      throw Error(
          Code::not_supported,
          "a variable of several dimensions that is in a netcdf4 file cannot get the name of its first "
          "dimension, nor that the variable's")
          .of_variable(wanted.variables[v].name);
}

void check_chunks(const VariableDef& variable, const Schema& wanted) {
  if (variable.chunks.empty()) return;
  if (variable.chunks.size() != variable.dims.size())
    throw Error(Code::invalid_argument, "the chunk shape has {} numbers, the variable {} dimensions",
                variable.chunks.size(), variable.dims.size());
  std::int64_t bytes = static_cast<std::int64_t>(size_of(variable.type));
  for (std::size_t d = 0; d < variable.chunks.size(); ++d) {
    const auto& dim = wanted.dim(variable.dims[d]);
    const auto n = variable.chunks[d];
    if (n < 1 || (!dim.unlimited && dim.length > 0 && n > dim.length))
      throw Error(Code::invalid_argument,
                  "the chunk length {} in dimension '{}' is not between 1 and the dimension's length{}", n,
                  dim.name, dim.unlimited ? std::string() : fmt::format(", {}", dim.length));
    if (n > k_largest_chunk / bytes)
      throw Error(Code::invalid_argument,
                  "a chunk would have 4 GiB or more, which HDF5 cannot hold; choose a smaller chunk shape");
    bytes *= n;
  }
}

void check_filters(const VariableDef& variable) {
  if (variable.filters.empty()) return;
  if (variable.dims.empty() || variable.type == Type::string)
    throw Error(Code::invalid_argument,
                std::string(variable.dims.empty() ? "a scalar" : "text of any length") +
                    " cannot be compressed; leave compression out for this variable");
  const auto missing = missing_code(variable.filters);
  if (!missing.empty())
    throw Error(Code::not_supported, "compression {} cannot be written: {}", text_of(variable.filters),
                missing);
}

void check_variable(const VariableDef& variable, const Schema& wanted) {
  check_path(variable.name, "variable", wanted.format);
  if (!holds(wanted.format, variable.type))
    throw Error(Code::type, "{} has no type {}{}", name_of(wanted.format), name_of(variable.type),
                wanted.format == Format::netcdf4_classic && holds(Format::netcdf4, variable.type)
                    ? "; netcdf4 has it"
                    : "");
  if (variable.dims.count() > k_max_dims)
    throw Error(Code::not_supported, "a variable may have up to {} dimensions, not {}", k_max_dims,
                variable.dims.size());
  for (std::size_t d = 0; d < variable.dims.size(); ++d) {
    const int dim = variable.dims[d];
    if (dim < 0 || dim >= static_cast<int>(wanted.dims.size()))
      throw Error(Code::invalid_argument, "dimension number {} does not exist", dim);
    if (wanted.format == Format::netcdf4_classic && d > 0 && wanted.dim(dim).unlimited)
      throw Error(Code::invalid_argument,
                  "in netcdf4-classic an unlimited dimension must be the first of a variable; netcdf4 has no "
                  "such rule");
  }
  check_filters(variable);
  check_kept_name(variable.name);
  check_chunks(variable, wanted);
}

}  // namespace

void check_extension(const Schema& in_file, const Schema& wanted, LateFill late) {
  check_extends(in_file, wanted);
  check_changes(in_file, wanted);
  const Schema schema = changed(in_file, wanted.changes);
  std::size_t unlimited = 0;
  for (std::size_t i = 0; i < wanted.dims.size(); ++i) {
    const auto& dim = wanted.dims[i];
    unlimited += dim.unlimited ? 1 : 0;
    if (i < schema.dims.size()) continue;
    check_path(dim.name, "dimension", wanted.format);
    if (dim.length < 0)
      throw Error(Code::invalid_argument, "the dimension '{}' has a negative length", dim.name);
  }
  if (wanted.format == Format::netcdf4_classic && unlimited > 1)
    throw Error(Code::not_supported, "netcdf4-classic allows one unlimited dimension, not {}; use netcdf4",
                unlimited);
  check_attributes(schema.attributes, wanted.attributes, wanted.format, nullptr, false);
  for (std::size_t g = schema.groups.size(); g < wanted.groups.size(); ++g)
    check_kept_name(wanted.groups[g].name);
  for (std::size_t g = 0; g < wanted.groups.size(); ++g)
    check_attributes(g < schema.groups.size() ? schema.groups[g].attributes : std::vector<Attribute>{},
                     wanted.groups[g].attributes, wanted.format, nullptr, false);
  for (std::size_t v = 0; v < wanted.variables.size(); ++v) {
    const auto& variable = wanted.variables[v];
    const bool is_new = v >= schema.variables.size();
    in_context_of_variable(variable.name, [&] {
      if (is_new) check_variable(variable, wanted);
      static const std::vector<Attribute> k_none;
      check_attributes(is_new ? k_none : schema.variables[v].attributes, variable.attributes, wanted.format,
                       &variable, is_new, late);
    });
  }
}

}  // namespace shoal::netcdf4
