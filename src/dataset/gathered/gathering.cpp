// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/gathered/gathering.hpp"

#include <fmt/core.h>

#include "base/language.hpp"
#include "base/text.hpp"
#include "format/group_paths.hpp"

namespace shoal {

namespace {

constexpr std::int64_t k_most_cells = std::int64_t{1} << 62;

bool is_integer(Type type) {
  switch (type) {
    case Type::byte_:
    case Type::short_:
    case Type::int_:
    case Type::int64:
    case Type::ubyte:
    case Type::ushort:
    case Type::uint:
    case Type::uint64:
      return true;
    default:
      return false;
  }
}

std::string text_of(const Attribute& attribute) {
  if (attribute.type == Type::string) return attribute.strings.empty() ? "" : attribute.strings.front();
  if (attribute.type != Type::char_) return "";
  std::string text(reinterpret_cast<const char*>(attribute.data.data()), attribute.data.size());
  while (!text.empty() && text.back() == '\0')
    text.pop_back();
  return text;
}

Gathering gathering_of(const Schema& schema, int list, const Attribute& compress) {
  const VariableDef& variable = schema.variable(list);
  Gathering out;
  out.list = list;
  out.dim = variable.dims.front();
  out.problem = caught([&] {
    const auto bad = [&](const std::string& why) {
      throw Error(Code::format, "its attribute compress, '{}', {}", text_of(compress), why)
          .of_variable(variable.name);
    };
    std::int64_t cells = 1;
    for (const auto& name : words(text_of(compress))) {
      const int d = find_dim_from(schema, group_of(variable.name), name);
      if (d < 0) bad(fmt::format("names '{}', which is no dimension", name));
      if (schema.dim(d).unlimited) bad(fmt::format("names '{}', which is unlimited", name));
      const std::int64_t length = schema.dim(d).length;
      if (length < 1 || cells > k_most_cells / length) bad("names dimensions of too many cells, or of none");
      if (out.shape.size() == k_most_dims) bad(fmt::format("names more than {} dimensions", k_most_dims));
      cells *= length;
      out.grid.push_back(d);
      out.shape.push_back(length);
    }
    if (out.grid.empty()) bad("names no dimension");
    if (!is_integer(variable.type))
      throw Error(Code::format, std::string("a list of cells must be of integers, and is of type ") +
                                    name_of(variable.type))
          .of_variable(variable.name);
  });
  return out;
}

// The place of a gathered dimension in the variable; -1: none.
int place_of(const VariableDef& variable, const Gathering& gathering) {
  if (find_attribute(variable.attributes, "compress") != nullptr) return -1;  // the list itself
  for (std::size_t i = 0; i < variable.dims.size(); ++i)
    if (variable.dims[i] == gathering.dim) return static_cast<int>(i);
  return -1;
}

bool has_shape_of(const Schema& schema, const std::vector<int>& dims, const Decomposition& decomposition) {
  const auto n = static_cast<std::size_t>(decomposition.rank());
  const std::size_t record = !dims.empty() && schema.dim(dims.front()).unlimited ? 1 : 0;
  if (dims.size() < n + record) return false;
  for (std::size_t i = 0; i < n; ++i) {
    const Dimension& dim = schema.dim(dims[dims.size() - n + i]);
    if (!dim.unlimited && dim.length != decomposition.global()[static_cast<int>(i)]) return false;
  }
  return true;
}

std::vector<int> expanded(const VariableDef& variable, const Gathering& gathering, int place) {
  std::vector<int> dims = variable.dims;
  dims.erase(dims.begin() + place);
  dims.insert(dims.begin() + place, gathering.grid.begin(), gathering.grid.end());
  return dims;
}

}  // namespace

std::vector<Gathering> gatherings_of(const Schema& schema) {
  std::vector<Gathering> found;
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    const VariableDef& variable = schema.variables[v];
    if (variable.dims.size() != 1) continue;
    const Attribute* compress = find_attribute(variable.attributes, "compress");
    if (compress == nullptr) continue;
    const Dimension& dim = schema.dim(variable.dims.front());
    if (dim.name == variable.name && !dim.unlimited)
      found.push_back(gathering_of(schema, static_cast<int>(v), *compress));
  }
  return found;
}

std::optional<OnGrid> on_grid(const Schema& schema, const std::vector<Gathering>& gatherings, int variable,
                              const Decomposition& decomposition) {
  const VariableDef& definition = schema.variable(variable);
  if (gatherings.empty() || has_shape_of(schema, definition.dims, decomposition)) return std::nullopt;
  for (const Gathering& gathering : gatherings) {
    const int place = place_of(definition, gathering);
    if (place < 0) continue;
    if (!gathering.problem.ok()) throw Error(gathering.problem);
    const std::vector<int> dims = expanded(definition, gathering, place);
    const int inner_dims = static_cast<int>(definition.dims.size()) - place - 1;
    const int grid = gathering.shape.size();
    if (!has_shape_of(schema, dims, decomposition) || decomposition.rank() < grid + inner_dims ||
        dims.size() > static_cast<std::size_t>(k_max_dims))
      continue;
    const std::string names = fmt::format("'{}' has only some cells of", schema.dim(gathering.dim).name);
    if (decomposition.map() != nullptr &&
        (decomposition.uncut_dims() != inner_dims || decomposition.rank() - inner_dims != grid))
      throw Error(
          Code::not_supported,
          "dimension {} a grid of {}; a map must count the cells of that grid, without other dimensions",
          names, shoal::text_of(gathering.shape))
          .of_variable(definition.name);
    for (int d = 0; d < decomposition.rank(); ++d) {
      const bool in_grid =
          d >= decomposition.rank() - inner_dims - grid && d < decomposition.rank() - inner_dims;
      if (!in_grid && decomposition.is_cut(d))
        throw Error(Code::not_supported,
                    "dimension {} the grid, and the decomposition cuts other dimensions than that grid's; "
                    "cut only these",
                    names)
            .of_variable(definition.name);
    }
    return OnGrid{gathering, place, inner_dims};
  }
  return std::nullopt;
}

Schema grid_schema(const Schema& schema, int variable, const OnGrid& how) {
  Schema out;
  out.format = schema.format;
  out.dims = schema.dims;
  out.variables = {schema.variable(variable)};
  out.variables.front().dims = expanded(out.variables.front(), how.gathering, how.place);
  out.variables.front().chunks.clear();
  return out;
}

std::int64_t check_gathered(const Schema& schema, const std::vector<int>& dims,
                            const Decomposition* decomposition) {
  if (decomposition == nullptr || !decomposition->is_masked())
    throw Error(
        Code::invalid_argument,
        "the decomposition has no mask that says which cells are water; give one that shoal_masked made");
  const int masked = decomposition->masked_dims();
  const int inner_dims = decomposition->uncut_dims();
  if (static_cast<int>(dims.size()) != masked)
    throw Error(Code::invalid_argument, "the mask has {} dimensions, and {} are named", masked, dims.size());
  for (int i = 0; i < masked; ++i) {
    const Dimension& dim = schema.dim(dims[static_cast<std::size_t>(i)]);
    const std::int64_t length = decomposition->global()[decomposition->rank() - inner_dims - masked + i];
    if (dim.unlimited || dim.length != length)
      throw Error(Code::invalid_argument, "dimension '{}' is {}, and that of the decomposition {}", dim.name,
                  dim.unlimited ? std::string("unlimited") : fmt::format("{} long", dim.length), length);
  }
  for (int d = 0; d < decomposition->rank() - inner_dims - masked; ++d)
    if (decomposition->is_cut(d))
      throw Error(Code::not_supported,
                  "the decomposition cuts {}, which the mask does not have; water points can be gathered "
                  "where only masked dimensions are cut",
                  dimension_text(d, decomposition->rank()));
  const Status writable = decomposition->writable();
  if (!writable.ok()) throw Error(writable);
  if (decomposition->active_cells() == 0)
    throw Error(Code::invalid_argument, "the mask leaves no water, so there is nothing to gather");
  return decomposition->active_cells();
}

}  // namespace shoal
