// SPDX-License-Identifier: BSD-3-Clause
#include "format/zarr/zarr_schema.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "format/checks.hpp"
#include "format/chunk_shape.hpp"
#include "format/format_traits.hpp"
#include "format/group_paths.hpp"
#include "format/zarr/hierarchy.hpp"

namespace shoal::zarr {

namespace {

constexpr std::int64_t k_record_chunk_bytes = 16 * 1024;  // of variables that are not cut over ranks
constexpr std::int64_t k_most_records = 1024;             // in such a chunk
constexpr std::int64_t k_whole_chunk_bytes = 64 << 20;

// The dimensions of the store: those that were noted, then those of arrays.
class DimensionNames {
 public:
  DimensionNames(const Hierarchy& all, Schema& schema) : schema_(schema) {
    for (const NotedDimension& dim : all.dims) {
      by_name_[dim.name] = schema_.dims.count();
      schema_.dims.push_back({dim.name, dim.length, dim.unlimited});
    }
    noted_ = schema_.dims.size();
  }

  // A name that was noted has its path; another program's belongs to the group of the array.
  int find_or_add(const std::string& path, const std::string& name, std::int64_t length) {
    const std::string group = group_of(path);
    if (!name.empty() && by_name_.contains(name)) return checked(path, by_name_.at(name), length);
    const std::string own = path_in(group, name.empty() ? fmt::format("_Anonymous_Dim_{}", length) : name);
    if (const auto known = by_name_.find(own); known != by_name_.end())
      return checked(path, known->second, length);
    by_name_[own] = schema_.dims.count();
    schema_.dims.push_back({own, length, false});
    return schema_.dims.count() - 1;
  }

 private:
  int checked(const std::string& path, int dim, std::int64_t length) const {
    const Dimension& known = schema_.dim(dim);
    if (known.length != length)
      throw Error(
          Code::format,
          "the dimension '{}' has the length {} in this array and {} in others, so that the store is no "
          "dataset; open it with zarr-python, or mend the arrays",
          known.name, length, known.length)
          .of_variable(path);
    return dim;
  }

  Schema& schema_;
  std::map<std::string, int> by_name_;
  std::size_t noted_ = 0;
};

// Another program does not say which dimension grows. It is one that all arrays have first, if it has, and
// whose coordinate counts time.
bool is_time(const Schema& schema, int dim) {
  const int coordinate = schema.find_variable(schema.dim(dim).name);
  if (coordinate < 0) return false;
  const Attribute* units = find_attribute(schema.variable(coordinate).attributes, "units");
  if (units == nullptr || units->type != Type::char_) return false;
  const std::string text(reinterpret_cast<const char*>(units->data.data()), units->data.size());
  return text.find(" since ") != std::string::npos;
}

void find_unlimited(Schema& schema) {
  for (int d = 0; d < schema.dims.count(); ++d) {
    bool is_first = is_time(schema, d);
    for (const VariableDef& variable : schema.variables)
      for (std::size_t i = 1; i < variable.dims.size(); ++i)
        is_first = is_first && variable.dims[i] != d;
    schema.dim(d).unlimited = is_first;
  }
}

std::vector<std::int64_t> numbers_of(const Dims& dims) {
  return {dims.begin(), dims.end()};
}

// The chunk of a variable that is not cut over ranks: a few of many records, or the whole.
Dims chunk_of_replicated(const Dims& shape, const std::vector<bool>& unlimited, std::int64_t element) {
  Dims chunk(shape.size(), 1);
  std::int64_t bytes = element;
  for (int d = shape.size() - 1; d >= 0; --d) {
    if (unlimited[static_cast<std::size_t>(d)]) {
      chunk[d] = std::clamp<std::int64_t>(k_record_chunk_bytes / bytes, 1, k_most_records);
    } else {
      const std::int64_t length = std::max<std::int64_t>(shape[d], 1);
      chunk[d] = even_part(length, std::max<std::int64_t>(k_whole_chunk_bytes / bytes, 1));
    }
    bytes *= chunk[d];
  }
  return chunk;
}

// Whole chunks of the last dimensions first, so that a shard is one run of the variable; records apart.
Dims shard_of(const Dims& shape, const std::vector<bool>& unlimited, const Dims& chunk, std::int64_t element,
              std::int64_t shard_bytes) {
  Dims shard = chunk;
  std::int64_t bytes = volume(chunk) * element;
  for (int d = shape.size() - 1; d >= 0; --d) {
    if (unlimited[static_cast<std::size_t>(d)]) continue;
    const std::int64_t chunks = (std::max<std::int64_t>(shape[d], 1) + chunk[d] - 1) / chunk[d];
    const std::int64_t part = even_part(chunks, std::max<std::int64_t>(shard_bytes / bytes, 1));
    shard[d] = chunk[d] * part;
    bytes *= part;
    if (part < chunks) break;
  }
  return shard;
}

}  // namespace

Schema schema_of(const Hierarchy& all, FillMode fill) {
  Schema schema;
  schema.format = Format::zarr;
  schema.attributes = all.root.attributes;
  schema.unread = all.root.unread;
  for (const auto& [path, group] : all.groups)
    schema.groups.push_back({path, group.attributes, group.unread});
  DimensionNames names(all, schema);
  for (const auto& [path, array] : all.arrays) {
    VariableDef variable;
    variable.name = path;
    variable.type = array.type;
    for (int d = 0; d < array.shape.size(); ++d) {
      const bool named = !array.dims.empty();
      variable.dims.push_back(names.find_or_add(
          path, named ? array.dims[static_cast<std::size_t>(d)] : std::string(), array.shape[d]));
    }
    variable.attributes = array.attributes;
    variable.unread = array.unread;
    variable.refusal = array.refusal;
    variable.fits_plainly = array.refusal.empty();
    variable.chunks = numbers_of(array.chunk);
    variable.filters = array.filters;
    if (array.refusal.empty() && array.type != Type::string) {
      Bytes absent = array.fill.empty() ? Bytes(size_of(array.type)) : array.fill;
      if (absent != fill_of(variable)) variable.absent = std::move(absent);
    }
    variable.no_fill = array.no_fill || found_without_fill(variable, fill);
    schema.variables.push_back(std::move(variable));
  }
  if (!all.noted) find_unlimited(schema);
  return schema;
}

ArrayMetadata array_of(const Schema& schema, const VariableDef& variable, const CatalogOptions& options) {
  ArrayMetadata array;
  std::vector<bool> unlimited;
  for (const int d : variable.dims) {
    const Dimension& dim = schema.dim(d);
    array.shape.push_back(dim.length);
    array.dims.push_back(dim.name);
    unlimited.push_back(dim.unlimited);
  }
  array.type = variable.type;
  array.no_fill = variable.no_fill;
  array.attributes = variable.attributes;
  array.filters = variable.filters;
  if (variable.type == Type::string) {
    array.stored_as = StoredAs::texts;
  } else {
    if (variable.type == Type::char_) array.stored_as = StoredAs::characters;
    array.element = size_of(variable.type);
    array.fill = fill_of(variable);
  }
  const std::size_t element = std::max<std::size_t>(array.element, sizeof(std::uint64_t));
  const bool cut = variable.distributed || !variable.filters.empty();
  if (!variable.chunks.empty())
    array.chunk = Dims(std::span<const std::int64_t>(variable.chunks));
  else if (cut)
    array.chunk = default_chunk(array.shape, unlimited, array.element, options.chunk_bytes);
  else
    array.chunk = chunk_of_replicated(array.shape, unlimited, static_cast<std::int64_t>(element));
  array.sharded = variable.distributed && !array.chunk.empty();
  array.object = array.sharded ? shard_of(array.shape, unlimited, array.chunk,
                                          static_cast<std::int64_t>(array.element), options.shard_bytes)
                               : array.chunk;
  check_sizes(array);
  if (!array.refusal.empty()) throw Error(Code::not_supported, "{}; choose smaller chunks", array.refusal);
  return array;
}

void take_definitions(const Schema& schema, Hierarchy& all) {
  all.noted = true;
  all.dims.clear();
  for (const Dimension& dim : schema.dims)
    all.dims.push_back({dim.name, dim.length, dim.unlimited});
  all.root.attributes = schema.attributes;
  for (std::size_t g = 0; g < schema.groups.size(); ++g) {
    if (g == all.groups.size()) all.groups.emplace_back();
    all.groups[g].first = schema.groups[g].name;
    all.groups[g].second.attributes = schema.groups[g].attributes;
  }
  for (int v = 0; v < schema.variables.count(); ++v) {
    const VariableDef& variable = schema.variable(v);
    auto& [path, array] = all.arrays.at(static_cast<std::size_t>(v));
    path = variable.name;
    array.attributes = variable.attributes;
    array.no_fill = variable.no_fill;
    for (std::size_t d = 0; d < variable.dims.size() && d < array.dims.size(); ++d)
      array.dims[d] = schema.dim(variable.dims[d]).name;
  }
  take_lengths(schema, all);
}

void take_lengths(const Schema& schema, Hierarchy& all) {
  for (std::size_t d = 0; d < all.dims.size(); ++d)
    all.dims[d].length = schema.dims[d].length;
  for (int v = 0; v < schema.variables.count(); ++v)
    if (Dims& shape = all.arrays[static_cast<std::size_t>(v)].second.shape; !shape.empty())
      shape = schema.shape(v);
}

namespace {

void check_attribute_types(const std::vector<Attribute>& attributes) {
  for (const Attribute& attribute : attributes) {
    check_name(attribute.name, "attribute");
    if (!holds(Format::zarr, attribute.type))
      throw Error(Code::type, "the attribute '{}' has the type {}, which zarr cannot hold", attribute.name,
                  name_of(attribute.type));
  }
}

// What cells that nobody wrote are read as does not change.
void check_fill(const VariableDef& old, const VariableDef& now) {
  const Attribute* const fill = find_attribute(now.attributes, k_fill_name);
  const Attribute* const before = find_attribute(old.attributes, k_fill_name);
  if (fill == nullptr || (before != nullptr && have_same_values(*before, *fill))) return;
  if (before == nullptr && (old.no_fill || fill_of(old) == fill_of(now))) return;
  throw Error(Code::not_supported,
              "the fill value of a variable in a zarr store cannot change after the variable was made; set "
              "_FillValue before the first write");
}

void check_new(const VariableDef& variable, const Schema& wanted) {
  check_path(variable.name, "variable", wanted.format);
  check_zarr_name(variable.name);
  if (!holds(wanted.format, variable.type))
    throw Error(Code::type, "zarr has no type {}", name_of(variable.type));
  if (variable.dims.count() > k_max_dims)
    throw Error(Code::not_supported, "a variable may have up to {} dimensions, not {}", k_max_dims,
                variable.dims.size());
  for (std::size_t d = 1; d < variable.dims.size(); ++d)
    if (const Dimension& dim = wanted.dim(variable.dims[d]); dim.unlimited)
      throw Error(Code::not_supported,
                  "the unlimited dimension '{}' must be the first of a variable in zarr, whose objects are "
                  "called by their places in the other dimensions; or use format netcdf4",
                  dim.name);
  if (!variable.chunks.empty() && variable.chunks.size() != variable.dims.size())
    throw Error(Code::invalid_argument, "the chunk shape has {} numbers, the variable {} dimensions",
                variable.chunks.size(), variable.dims.size());
  if (variable.filters.empty()) return;
  if (variable.dims.empty() || variable.type == Type::string)
    throw Error(Code::invalid_argument,
                std::string(variable.dims.empty() ? "a scalar" : "text of any length") +
                    " cannot be compressed; leave compression out for this variable");
  if (const auto missing = missing_code(variable.filters); !missing.empty())
    throw Error(Code::not_supported, "compression {} cannot be written: {}", text_of(variable.filters),
                missing);
}

}  // namespace

void check_zarr_extension(const Schema& in_store, const Schema& wanted) {
  check_extends(in_store, wanted);
  for (const SchemaChange& change : wanted.changes)
    if (change.kind == SchemaChange::Kind::rename_variable || change.kind == SchemaChange::Kind::rename_group)
      check_zarr_name(change.to);
  const Schema have = changed(in_store, wanted.changes);
  for (std::size_t d = have.dims.size(); d < wanted.dims.size(); ++d) {
    check_path(wanted.dims[d].name, "dimension", wanted.format);
    if (wanted.dims[d].length < 0)
      throw Error(Code::invalid_argument, "the dimension '{}' has a negative length", wanted.dims[d].name);
  }
  check_attribute_types(wanted.attributes);
  for (std::size_t g = 0; g < wanted.groups.size(); ++g) {
    if (g >= have.groups.size()) check_zarr_name(wanted.groups[g].name);
    check_attribute_types(wanted.groups[g].attributes);
  }
  for (std::size_t v = 0; v < wanted.variables.size(); ++v) {
    const VariableDef& variable = wanted.variables[v];
    in_context_of_variable(variable.name, [&] {
      check_attribute_types(variable.attributes);
      if (v >= have.variables.size())
        check_new(variable, wanted);
      else
        check_fill(have.variables[v], variable);
    });
  }
}

}  // namespace shoal::zarr
