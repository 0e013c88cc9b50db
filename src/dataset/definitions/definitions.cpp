// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/definitions/definitions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/language.hpp"
#include "base/names.hpp"
#include "base/text.hpp"
#include "codec/convert.hpp"
#include "dataset/definitions/quantized.hpp"
#include "dataset/gathered/gathering.hpp"
#include "format/checks.hpp"
#include "format/chunk_shape.hpp"
#include "format/format_traits.hpp"
#include "format/group_paths.hpp"

namespace shoal {

namespace {

std::vector<std::string> variable_names(const Schema& schema) {
  std::vector<std::string> names;
  for (const auto& v : schema.variables)
    names.push_back(v.name);
  return names;
}

std::vector<std::string> dim_names(const Schema& schema) {
  std::vector<std::string> names;
  for (const auto& d : schema.dims)
    names.push_back(d.name);
  return names;
}

std::string format_that_holds(Type type) {
  if (type == Type::string) return "netcdf4";
  return "cdf5 or netcdf4";
}

void check_type(Format format, Type type, const char* what, const std::string& name) {
  if (type == Type::none) throw Error(Code::type, "{} '{}' has no type", what, name);
  if (!holds(format, type))
    throw Error(Code::not_supported, "{} '{}' of type {}: format {} has no such type; use format {}", what,
                name, name_of(type), name_of(format), format_that_holds(type));
}

Attribute make_attribute(const std::string& name, Type type, std::int64_t count, const void* values) {
  if (count < 0) throw Error(Code::invalid_argument, "attribute '{}' has {} elements", name, count);
  if (count > 0 && values == nullptr)
    throw Error(Code::invalid_argument, "attribute '{}': values is NULL", name);
  if (type == Type::string) {
    Attribute attribute{name, type, {}, {}};
    const auto* texts = static_cast<const char* const*>(values);
    for (std::int64_t i = 0; i < count; ++i) {
      if (texts[i] == nullptr)
        throw Error(Code::invalid_argument, "attribute '{}': text {} is NULL", name, i);
      attribute.strings.emplace_back(texts[i]);
    }
    return attribute;
  }
  if (type == Type::char_)
    return Attribute::text(
        name, count == 0 ? std::string()
                         : std::string(static_cast<const char*>(values), static_cast<std::size_t>(count)));
  return Attribute::numbers(name, type, values, count);
}

void replace(std::vector<Attribute>& attributes, Attribute attribute) {
  const Attribute* const old = find_attribute(attributes, attribute.name);
  if (old == nullptr) {
    attributes.push_back(std::move(attribute));
    return;
  }
  attribute.name = old->name;  // as the file has it
  attributes[static_cast<std::size_t>(old - attributes.data())] = std::move(attribute);
}

double as_double(Type type, const void* value) {
  double number = 0;
  find_conversion({type, size_of(type), false}, {Type::double_, sizeof number, false})(
      static_cast<const std::byte*>(value), 0, reinterpret_cast<std::byte*>(&number), 0, 1, nullptr);
  return number;
}

// A fill value of the caller's type as one of the variable's. Unlike cells, it may lose no fraction: a
// program that looks for it would not find it.
Attribute fill_attribute(const VariableDef& variable, Type type, const void* value) {
  if (type == variable.type) return make_attribute(k_fill_name, type, 1, value);
  if (!is_number(variable.type) || !(is_number(type) || type == Type::logical))
    throw Error(Code::type,
                "the fill value is of type {}, the variable of type {}; numbers, text and strings do not go "
                "into each other",
                name_of(type), name_of(variable.type))
        .of_variable(variable.name);
  alignas(8) std::array<std::byte, 8> converted{};
  const ConversionErrors errors =
      find_conversion({type, size_of(type), false}, {variable.type, size_of(variable.type), false})(
          static_cast<const std::byte*>(value), 0, converted.data(), 0, 1, nullptr);
  const bool to_integer = variable.type != Type::float_ && variable.type != Type::double_;
  const double number = as_double(type, value);
  if (errors.count > 0 || (to_integer && number != std::trunc(number))) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.9g", number);
    throw Error(Code::range, "the fill value {} does not fit the variable's type, {}", text.data(),
                name_of(variable.type))
        .of_variable(variable.name);
  }
  return make_attribute(k_fill_name, variable.type, 1, converted.data());
}

std::vector<std::string> names_of_dims(const std::string& variable, const std::string& text) {
  try {
    return names_in(text);
  } catch (const Error& e) {
    throw e.of_variable(variable);
  }
}

// What `parse` gives; its failure is one of an argument.
template <class Parse>
auto parsed(const std::string& variable, Parse&& parse) {
  try {
    return parse();
  } catch (const Error& e) {
    throw Error(Code::invalid_argument, e.status().message).of_variable(variable);
  }
}

void check_can_be_cut(const VariableDef& variable) {
  if (variable.type == Type::string)
    throw Error(Code::not_supported, "strings cannot be cut over ranks; use a variable of type char, or put")
        .of_variable(variable.name);
}

constexpr const char* k_flag_meanings = "false true";

}  // namespace

// "/phy/t" is "phy/t": a path from the root group.
int find_variable_or_throw(const Schema& schema, const std::string& name) {
  int i = schema.find_variable(name);
  if (i < 0 && name.starts_with('/')) i = schema.find_variable(name.substr(1));
  if (i < 0)
    throw Error(Code::not_found, "there is no variable '{}'{}", name,
                did_you_mean(name, variable_names(schema)));
  return i;
}

int find_dim_or_throw(const Schema& schema, const std::string& name) {
  int i = schema.find_dim(name);
  if (i < 0 && name.starts_with('/')) i = schema.find_dim(name.substr(1));
  if (i < 0)
    throw Error(Code::not_found, "there is no dimension '{}'{}", name, did_you_mean(name, dim_names(schema)));
  return i;
}

const Attribute& find_attribute_or_throw(const std::vector<Attribute>& attributes, const std::string& name) {
  if (const Attribute* found = find_attribute(attributes, name)) return *found;
  std::vector<std::string> names;
  for (const auto& a : attributes)
    names.push_back(a.name);
  throw Error(Code::not_found, "there is no attribute '{}'{}", name, did_you_mean(name, names));
}

bool is_logical(const VariableDef& variable) {
  if (variable.type != Type::byte_) return false;
  const Attribute* values = find_attribute(variable.attributes, "flag_values");
  const Attribute* meanings = find_attribute(variable.attributes, "flag_meanings");
  if (values == nullptr || meanings == nullptr || values->type != Type::byte_ || values->data.size() != 2)
    return false;
  const std::string text(reinterpret_cast<const char*>(meanings->data.data()), meanings->data.size());
  return values->data[0] == std::byte{0} && values->data[1] == std::byte{1} && text == k_flag_meanings;
}

namespace {

std::string listed(const Schema& schema, const std::vector<int>& dims) {
  std::vector<std::string> names;
  for (const int d : dims)
    names.push_back(schema.dim(d).name);
  return joined(as_listed(std::move(names)), " ");
}

// The names of the dimensions from back to front, as the caller would write them.
std::string order_hint(const Schema& schema, const std::vector<int>& dims) {
  std::vector<std::string> names;
  for (auto d = dims.rbegin(); d != dims.rend(); ++d)
    names.push_back(schema.dim(*d).name);
  return fmt::format("{}: write '{}'",
                     language() == Language::fortran
                         ? "in Fortran the fastest dimension comes first"
                         : "the slowest dimension comes first, the record dimension "
                           "before all others",
                     joined(as_listed(std::move(names)), " "));
}

bool ends_with_shape(const Schema& schema, const std::vector<int>& dims, const Dims& shape) {
  const auto cut = static_cast<std::size_t>(shape.size());
  for (std::size_t i = 0; i < cut && cut <= dims.size(); ++i) {
    const Dimension& dim = schema.dim(dims[dims.size() - cut + i]);
    if (dim.unlimited || dim.length != shape[static_cast<int>(i)]) return false;
  }
  return cut <= dims.size();
}

// Does it not fit because dimensions were listed, or the shape was given, from back to front? Then what to
// write.
std::string order_mistake(const Schema& schema, const std::vector<int>& dims, const Dims& shape) {
  if (ends_with_shape(schema, {dims.rbegin(), dims.rend()}, shape)) return order_hint(schema, dims);
  Dims turned = shape;
  std::reverse(turned.begin(), turned.end());
  if (!ends_with_shape(schema, dims, turned)) return "";
  return fmt::format(
      "its shape is from back to front: {} comes first, so that it is {}",
      language() == Language::fortran ? "in Fortran the fastest dimension" : "the slowest dimension",
      text_of(turned));
}

}  // namespace

void check_decomposition_fits(const Schema& schema, int variable, const Decomposition& decomposition) {
  const auto& dims = schema.variable(variable).dims;
  const int cut = decomposition.rank();
  const int record = schema.has_record(variable) ? 1 : 0;
  const int rest = static_cast<int>(dims.size()) - record;
  bool fits = cut <= rest;
  for (int i = 0; fits && i < cut; ++i) {
    const Dimension& dim = schema.dim(dims[dims.size() - static_cast<std::size_t>(cut - i)]);
    fits = dim.unlimited || dim.length == decomposition.global()[i];
  }
  if (fits || on_grid(schema, gatherings_of(schema), variable, decomposition)) return;
  std::vector<std::string> described;
  for (const int d : dims) {
    const Dimension& dim = schema.dim(d);
    described.push_back(fmt::format("{}={}", dim.name,
                                    dim.unlimited ? std::string("unlimited") : std::to_string(dim.length)));
  }
  const std::string mistake = order_mistake(schema, dims, decomposition.global());
  throw Error(Code::invalid_argument,
              "the decomposition of shape {} does not fit the variable, whose dimensions are ({}); {}",
              text_of(decomposition.global()), joined(as_listed(std::move(described)), ", "),
              !mistake.empty() ? mistake
                               : fmt::format("its shape must be that of {}{}", fastest_dimensions(cut),
                                             record != 0 ? ", without the record dimension" : ""))
      .of_variable(schema.variable(variable).name);
}

void Definitions::reset(const Schema& in_file) {
  // Where definitions are dropped, variables have their old names again.
  const std::vector<SchemaChange> none;
  const auto& changes = wanted_ ? wanted_->changes : none;
  std::vector<std::string> names;
  if (!changes.empty()) names = variable_names(*wanted_);
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    const bool of_group = change->kind == SchemaChange::Kind::rename_group;
    if (!of_group && change->kind != SchemaChange::Kind::rename_variable) continue;
    for (std::size_t v = 0; v < names.size(); ++v) {
      if (of_group ? !is_within(names[v], change->to) : v != static_cast<std::size_t>(change->index))
        continue;
      if (v < in_file.variables.size() && in_file.variables[v].name == wanted_->variables[v].name) continue;
      const std::string before = change->name + names[v].substr(change->to.size());
      move_notes(names[v], before);
      names[v] = before;
    }
  }
  wanted_.reset();
  in_file_ = &in_file;
  added_attributes_.clear();
  groups_in_file_ = static_cast<int>(in_file.groups.size());
  dims_in_file_ = static_cast<int>(in_file.dims.size());
  variables_in_file_ = static_cast<int>(in_file.variables.size());
  decompositions_.resize(in_file.variables.size());
  gathered_.clear();
  by_pattern_.clear();
  given_.clear();
  pack_requests_.clear();
  index_names(group_by_name_, in_file.groups);
  index_names(dim_by_name_, in_file.dims);
  index_names(variable_by_name_, in_file.variables);
  const auto is_dropped = [&](const auto& entry) { return !variable_by_name_.contains(entry.first); };
  std::erase_if(quantized_, is_dropped);
  std::erase_if(packings_, is_dropped);
  std::erase_if(added_fill_, [&](const std::string& name) { return !variable_by_name_.contains(name); });
}

Schema& Definitions::wanted() {
  if (!wanted_) wanted_ = *in_file_;
  return *wanted_;
}

void Definitions::attach(int variable, std::shared_ptr<const Decomposition> decomposition) {
  decompositions_[variable] = std::move(decomposition);
}

int Definitions::variable(const std::string& name) const {
  if (name.starts_with('/')) return variable(from_root(name));
  const auto found = find_name(variable_by_name_, name);
  return found != variable_by_name_.end() ? found->second : find_variable_or_throw(schema(), name);
}

int Definitions::dimension(const std::string& name) const {
  const auto found = find_name(dim_by_name_, from_root(name));
  return found != dim_by_name_.end() ? found->second : find_dim_or_throw(schema(), name);
}

int Definitions::dimension_from(const std::string& group, const std::string& name) const {
  int found = -1;
  if (!name.starts_with('/'))
    for_groups_outwards(group, [&](const std::string& here) {
      const auto dim = find_name(dim_by_name_, path_in(here, name));
      if (dim != dim_by_name_.end()) found = dim->second;
      return found >= 0;
    });
  return found >= 0 ? found : dimension(name);
}

// Dimensions of a new variable: known, and unlimited ones only where the format has them.
std::vector<int> Definitions::resolve_dims(const std::string& variable,
                                           const std::vector<std::string>& names) const {
  std::vector<int> dims;
  const std::string own = group_of(variable);
  for (const auto& name : names) {
    dims.push_back(dimension_from(own, name));
    if (const std::string& dim = schema().dim(dims.back()).name; !is_within(own, group_of(dim)))
      throw Error(
          Code::invalid_argument,
          "the dimension '{}' is in the group '{}', and a variable has dimensions of its own group and "
          "of those that this is in; define it there",
          dim, group_of(dim))
          .of_variable(variable);
  }
  if (dims.size() > static_cast<std::size_t>(k_max_dims))
    throw Error(Code::not_supported, "the variable has {} dimensions, at most {} are allowed", dims.size(),
                k_max_dims)
        .of_variable(variable);
  for (std::size_t i = 1; i < dims.size(); ++i) {
    const Dimension& dim = schema().dim(dims[i]);
    if (dim.unlimited && traits_of(schema().format).is_classic_model)
      throw Error(Code::not_supported,
                  "the unlimited dimension '{}' must be the {} of its dimensions ({}) in format {}{}; or use "
                  "format netcdf4",
                  dim.name, language() == Language::fortran ? "last" : "first", listed(schema(), dims),
                  name_of(schema().format),
                  i + 1 == dims.size() ? ", and " + order_hint(schema(), dims) : std::string())
          .of_variable(variable);
  }
  return dims;
}

void Definitions::def_dim(const std::string& given, std::int64_t length) {
  const std::string name = new_path(given, "dimension");
  if (const auto known = find_name(dim_by_name_, name); known != dim_by_name_.end()) {
    const Dimension& dim = schema().dim(known->second);
    throw Error(Code::exists, "there is a dimension '{}' already, {}", name,
                dim.unlimited ? "unlimited" : fmt::format("of length {}", dim.length));
  }
  if (length < 0)
    throw Error(Code::invalid_argument, "dimension '{}' has length {}; allowed are 1 or more, or {}", name,
                length, word_for_unlimited());
  const bool unlimited = length == 0;
  if (unlimited && traits_of(schema().format).is_classic_model)
    for (const auto& dim : schema().dims)
      if (dim.unlimited)
        throw Error(Code::not_supported,
                    "dimension '{}' is unlimited and so is '{}'; format {} has one unlimited dimension, "
                    "netcdf4 several",
                    name, dim.name, name_of(schema().format));
  check_hides_no_grid(name);
  make_groups(group_of(name));
  add_name(dim_by_name_, name, static_cast<int>(schema().dims.size()));
  wanted().dims.push_back({name, length, unlimited});
}

void Definitions::def_var(const std::string& given, Type type, const std::vector<std::string>& dims,
                          std::shared_ptr<const Decomposition> decomposition) {
  const std::string name = new_path(given, "variable");
  if (const auto known = find_name(variable_by_name_, name); known != variable_by_name_.end()) {
    const VariableDef& there = schema().variable(known->second);
    throw Error(Code::exists,
                "there is a variable '{}' already, of type {} with dimensions ({}); here it would be {} ({})",
                name, name_of(there.type), listed(schema(), there.dims), name_of(type),
                joined(as_listed(from_root(dims)), " "))
        .of_variable(name);
  }
  VariableDef variable;
  variable.name = name;
  variable.type = type == Type::logical ? Type::byte_ : type;
  check_type(schema().format, variable.type, "variable", name);
  variable.dims = resolve_dims(name, dims);
  variable.no_fill = defaults_.fill != FillMode::all;
  variable.distributed = decomposition != nullptr;
  quantized_.erase(name);
  by_pattern_.erase(name);
  pack_requests_.erase(name);
  packings_.erase(name);
  if (variable.distributed) check_can_be_cut(variable);
  if (variable.distributed && !variable.dims.empty()) take_defaults(variable);
  if (type == Type::logical) {
    const std::int8_t flags[2] = {0, 1};
    variable.attributes.push_back(Attribute::numbers("flag_values", Type::byte_, flags, 2));
    variable.attributes.push_back(Attribute::text("flag_meanings", k_flag_meanings));
  }
  wanted().variables.push_back(std::move(variable));
  try {
    if (decomposition != nullptr)
      check_decomposition_fits(schema(), static_cast<int>(schema().variables.size()) - 1, *decomposition);
  } catch (...) {
    wanted().variables.pop_back();
    throw;
  }
  make_groups(group_of(name));
  decompositions_.push_back(std::move(decomposition));
  add_name(variable_by_name_, name, static_cast<int>(schema().variables.size()) - 1);
  defined_.insert(name);
}

void Definitions::def_cut(const std::string& name) {
  VariableDef& v = new_variable(name, "that it will be cut");
  if (v.distributed) return;
  check_can_be_cut(v);
  const std::size_t of_records = schema().has_record(variable(name)) ? 1 : 0;
  if (v.dims.size() == of_records)
    throw Error(Code::invalid_argument, "a variable without dimensions{} cannot be cut over ranks",
                of_records != 0 ? " beside the record dimension" : "")
        .of_variable(name);
  VariableDef cut = v;
  cut.distributed = true;
  take_defaults(cut);
  v = std::move(cut);
}

void Definitions::take_default_chunks(VariableDef& variable) {
  const auto* choice = defaults_.chunks.of(variable.name);
  if (choice == nullptr || given_.contains({"chunks", variable.name})) return;
  const ChunkRequest request = chunk_request_of(choice->value);
  Dims shape;
  std::vector<bool> unlimited;
  for (const int d : variable.dims) {
    const Dimension& dim = schema().dim(d);
    shape.push_back(dim.length);
    unlimited.push_back(dim.unlimited);
  }
  // Of a pattern, those with as many dimensions as the shape.
  if (choice->named && !request.shape.empty() && request.shape.size() != variable.dims.size())
    throw Error(Code::setting, "setting chunks is '{}' for the variable, which has {} dimensions",
                choice->value, variable.dims.size())
        .of_variable(variable.name);
  auto chunk = requested_chunk(request, shape, unlimited, size_of(variable.type), defaults_.chunk_bytes);
  if (chunk || request.rule != ChunkRequest::Rule::shape) taken_.insert({"chunks", choice->pattern});
  if (chunk) variable.chunks = std::move(*chunk);
}

void Definitions::take_defaults(VariableDef& variable) {
  const FormatTraits& format = traits_of(schema().format);
  if (format.has_chunks) {
    const auto* choice = defaults_.compression.of(variable.name);
    if (choice != nullptr && !given_.contains({"compression", variable.name})) {
      variable.filters = in_context_of_variable(
          variable.name, [&] { return format.stored_filters(filters_of(choice->value)); });
      taken_.insert({"compression", choice->pattern});
    }
    take_default_chunks(variable);
  }
  const auto* choice = defaults_.quantization.of(variable.name);
  if (choice == nullptr || given_.contains({"quantize", variable.name})) return;
  const Quantization quantization = quantization_of(choice->value);
  // Of all variables or a pattern, those that it can be done with; CF wants coordinates as they are.
  if (choice->named)
    check_quantization(variable, quantization);
  else if (most_of(quantization.mode, variable.type) < quantization.number ||
           dim_by_name_.contains(variable.name))
    return;
  if (!quantization.empty()) quantized_[variable.name] = quantization;
  if (choice->named)
    taken_.insert({"quantize", choice->pattern});
  else
    by_pattern_[variable.name] = choice->pattern;
}

void Definitions::def_gathered(const std::string& given, const std::string& dims,
                               std::shared_ptr<const Decomposition> decomposition) {
  const std::string name = new_path(given, "dimension");
  const std::string group = group_of(name);
  std::vector<int> grid;
  for (const auto& dim : names_of_dims(name, dims)) {
    if (words(dim).size() != 1)
      throw Error(Code::not_supported,
                  "dimension '{}' has a blank or a comma in its name, with which the attribute compress (CF) "
                  "cannot name it",
                  dim)
          .of_variable(name);
    grid.push_back(dimension_from(group, dim));
  }
  const std::int64_t length = check_gathered(schema(), grid, decomposition.get());
  if (find_name(variable_by_name_, name) != variable_by_name_.end())
    throw Error(Code::exists, "there is a variable '{}' already", name).of_variable(name);
  std::int64_t cells = 1;
  std::vector<std::string> names;
  for (const int d : grid) {
    cells *= schema().dim(d).length;
    names.push_back(dim_name_from(schema(), group, d));
  }
  const Type type = cells - 1 > INT32_MAX ? Type::int64 : Type::int_;
  check_type(schema().format, type, "the list of water points", name);
  def_dim(name, length);
  def_var(name, type, {"/" + name}, nullptr);
  VariableDef& list = wanted().variables.back();
  list.distributed = true;
  list.attributes = {Attribute::text("compress", joined(names, " "))};
  gathered_.emplace_back(static_cast<int>(schema().dims.size()) - 1, std::move(decomposition));
}

VariableDef& Definitions::new_variable(const std::string& name, const char* what) {
  const int i = variable(name);
  if (i < variables_in_file_)
    throw Error(Code::state,
                std::string(what) + " can only be given before the variable's definition is finished")
        .of_variable(name);
  return wanted().variable(i);
}

// Of a variable in the file that has no fill, nobody has filled anything with the value that it lacks, but
// such cells as decompositions have left out so far.
bool Definitions::may_get_late_fill(int v) const {
  return defaults_.late_fill && v < variables_in_file_ && schema().variable(v).no_fill &&
         lacks_fill_value(schema().variable(v));
}

void Definitions::def_fill(const std::string& name, Type type, const void* value) {
  if (const int i = variable(name); value != nullptr && may_get_late_fill(i)) {
    Attribute fill = fill_attribute(schema().variable(i), type, value);
    wanted().variable(i).attributes.push_back(std::move(fill));
    added_attributes_.emplace(i, k_fill_name);
    return;
  }
  VariableDef& v = new_variable(name, "a fill value");
  if (value == nullptr) {
    std::erase_if(v.attributes, [](const Attribute& a) { return a.name == k_fill_name; });
    v.no_fill = true;
    return;
  }
  replace(v.attributes, fill_attribute(v, type, value));
  v.no_fill = false;
}

void Definitions::def_chunks(const std::string& name, const std::int64_t* chunks) {
  VariableDef& v = new_variable(name, "a chunk shape");
  if (!traits_of(schema().format).has_chunks)
    throw Error(Code::not_supported, "format {} has no chunks; use netcdf4", name_of(schema().format))
        .of_variable(name);
  if (v.dims.empty()) throw Error(Code::invalid_argument, "a scalar has no chunks").of_variable(name);
  if (chunks == nullptr) throw Error(Code::invalid_argument, "chunks is NULL").of_variable(name);
  for (std::size_t i = 0; i < v.dims.size(); ++i) {
    const Dimension& dim = schema().dim(v.dims[i]);
    if (chunks[i] < 1 || (!dim.unlimited && chunks[i] > dim.length))
      throw Error(Code::invalid_argument, "the chunk is {} long in dimension '{}'; allowed are 1 to {}",
                  chunks[i], dim.name, dim.unlimited ? "any number" : std::to_string(dim.length))
          .of_variable(name);
  }
  v.chunks.assign(chunks, chunks + v.dims.size());
  given_.insert({"chunks", v.name});
}

void Definitions::def_compression(const std::string& name, const std::string& text) {
  VariableDef& v = new_variable(name, "compression");
  const Filters filters = parsed(name, [&] { return filters_of(text); });
  if (!filters.empty() && !traits_of(schema().format).has_chunks)
    throw Error(Code::not_supported, "format {} cannot be compressed; use netcdf4", name_of(schema().format))
        .of_variable(name);
  if (!filters.empty() && (v.dims.empty() || v.type == Type::string))
    throw Error(Code::invalid_argument,
                std::string(v.dims.empty() ? "a scalar" : "text of any length") + " cannot be compressed")
        .of_variable(name);
  if (v.independent) check_can_be_independent(v, filters);
  v.filters =
      in_context_of_variable(name, [&] { return traits_of(schema().format).stored_filters(filters); });
  given_.insert({"compression", v.name});
}

void Definitions::def_quantize(const std::string& name, const std::string& text) {
  const VariableDef& v = new_variable(name, "quantization");
  const Quantization quantization = parsed(name, [&] { return quantization_of(text); });
  check_quantization(v, quantization);
  given_.insert({"quantize", v.name});
  if (const auto chosen = by_pattern_.extract(v.name)) taken_.insert({"quantize", chosen.mapped()});
  if (quantization.empty())
    quantized_.erase(v.name);
  else
    quantized_[v.name] = quantization;
}

void Definitions::find_quantized() {
  for (const auto& v : schema().variables)
    if (const Quantization found = quantization_in_file(v); !found.empty()) quantized_[v.name] = found;
}

// Which variables are coordinates is known when all is defined that there is to be.
void Definitions::spare_coordinates() {
  if (by_pattern_.empty()) return;
  const auto coordinates = names_of_coordinates(schema());
  for (const auto& [name, pattern] : std::exchange(by_pattern_, {})) {
    if (coordinates.contains(name))
      quantized_.erase(name);
    else
      taken_.insert({"quantize", pattern});
  }
}

void Definitions::describe_quantized() {
  spare_coordinates();
  auto& variables = wanted().variables;
  for (auto i = static_cast<std::size_t>(variables_in_file_); i < variables.size(); ++i) {
    const auto found = quantized_.find(variables[i].name);
    if (found == quantized_.end()) continue;
    describe_quantization(variables[i], found->second);
    rounding_of(variables[i], found->second);  // throws where it cannot be done
    VariableDef container = quantization_container(found->second.mode);
    if (variable_by_name_.contains(container.name)) continue;
    variable_by_name_.emplace(container.name, static_cast<int>(variables.size()));
    variables.push_back(std::move(container));
    decompositions_.push_back(nullptr);
  }
}

void Definitions::copy_att(const char* variable, Attribute attribute, bool odd_fill) {
  attribute.name = composed(attribute.name);
  if (attribute.type == Type::string && !holds(schema().format, Type::string) &&
      attribute.strings.size() == 1)
    attribute = Attribute::text(attribute.name, attribute.strings.front());
  if (owner(variable) >= 0 && attribute.name == k_fill_name) {
    VariableDef& v = new_variable(variable, "a fill value");
    VariableDef with = v;
    replace(with.attributes, attribute);
    if (const std::string fault = fault_of_fill(with); !fault.empty()) {
      check_type(schema().format, attribute.type, "attribute", attribute.name);
      if (!odd_fill)
        throw Error(Code::not_supported,
                    "{}, which the driver's library takes for none; leave it out, or use "
                    "driver native",
                    fault)
            .of_variable(variable);
      with.no_fill = false;
      v = std::move(with);
      return;
    }
    v.no_fill = false;
  }
  std::vector<const char*> texts;
  for (const auto& text : attribute.strings)
    texts.push_back(text.c_str());
  const void* values =
      attribute.type == Type::string ? static_cast<const void*>(texts.data()) : attribute.data.data();
  put_att(variable, attribute.name, attribute.type, attribute.count(), values);
}

void Definitions::put_att(const char* variable, const std::string& given, Type type, std::int64_t count,
                          const void* values) {
  const std::string name = composed(given);
  const int index = owner(variable);
  check_name(name, "attribute");
  if (type == Type::logical)
    throw Error(Code::type, "attribute '{}' is logical; give it as byte 0 or 1, or as text", name);
  if (type == Type::string && !holds(schema().format, Type::string))
    throw Error(
        Code::not_supported,
        "attribute '{}' is of type string; format {} has text only: give it as char, or use format netcdf4",
        name, name_of(schema().format));
  check_type(schema().format, type, "attribute", name);
  if (index >= 0 && name == k_fill_name) {
    const Type wanted = schema().variable(index).type;
    if (type != wanted || count != 1)
      throw Error(Code::type, "_FillValue is one value of the variable's type, {}, not {} of {}",
                  name_of(wanted), count, name_of(type))
          .of_variable(variable);
    VariableDef& v = new_variable(variable, "a fill value");
    replace(v.attributes, fill_attribute(v, type, values));
    return;
  }
  if (index >= 0 && index < variables_in_file_ && stays_packed(index, name))
    throw Error(Code::not_supported, "attribute '{}' says how values are stored, and stays", name)
        .of_variable(variable);
  auto& attributes = wanted().attributes_of(index);
  if (!is_new(index) && find_attribute(attributes, name) == nullptr) added_attributes_.emplace(index, name);
  replace(attributes, make_attribute(name, type, count, values));
  std::erase_if(wanted().unread_of(index), [&](const UnreadAttribute& a) { return a.name == name; });
}

}  // namespace shoal
