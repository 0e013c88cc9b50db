// SPDX-License-Identifier: BSD-3-Clause
#include "format/classic/layout.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "format/checks.hpp"
#include "format/classic/header.hpp"

namespace shoal {

namespace {

std::int64_t rounded(std::int64_t n, std::int64_t multiple) {
  return checked_sum(n, multiple - 1) / multiple * multiple;
}

std::int64_t alignment_of(bool distributed, const CatalogOptions& options) {
  return distributed ? std::lcm<std::int64_t>(options.alignment, 4) : 4;
}

void check_options(const CatalogOptions& options) {
  constexpr std::int64_t k_most = std::int64_t{1} << 40;
  if (options.alignment < 1 || options.alignment > k_most)
    throw Error(Code::setting, "alignment is {}; 1 byte to 1 TiB are allowed", options.alignment);
  if (options.header_reserve < 0 || options.header_reserve > k_most)
    throw Error(Code::setting, "header_reserve is {}; 0 bytes to 1 TiB are allowed", options.header_reserve);
}

std::vector<std::int64_t> all_slabs(const Schema& schema) {
  std::vector<std::int64_t> slabs;
  for (std::size_t v = 0; v < schema.variables.size(); ++v)
    slabs.push_back(slab_bytes(schema, static_cast<int>(v)));
  return slabs;
}

/// Puts the fixed variables from the `first` on one behind the other, starting at fixed_end.
void place_fixed(ClassicLayout& layout, const Schema& schema, std::size_t first,
                 const CatalogOptions& options) {
  for (std::size_t v = first; v < schema.variables.size(); ++v) {
    if (schema.has_record(static_cast<int>(v))) continue;
    layout.begins[v] = rounded(layout.fixed_end, alignment_of(schema.variables[v].distributed, options));
    layout.fixed_end = checked_sum(layout.begins[v], padded(layout.slabs[v]));
  }
}

/// Puts the slabs of all record variables one behind the other, starting at record_begin.
void place_records(ClassicLayout& layout, const Schema& schema) {
  std::int64_t at = layout.record_begin;
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    if (!schema.has_record(static_cast<int>(v))) continue;
    layout.begins[v] = at;
    at = checked_sum(at, padded(layout.slabs[v]));
  }
  layout.record_bytes = record_bytes_of(schema, layout.slabs);
}

bool any_record(const Schema& schema, std::size_t first, bool distributed_only) {
  for (std::size_t v = first; v < schema.variables.size(); ++v)
    if (schema.has_record(static_cast<int>(v)) && (!distributed_only || schema.variables[v].distributed))
      return true;
  return false;
}

void start_records(ClassicLayout& layout, const Schema& schema, const CatalogOptions& options) {
  layout.has_records = any_record(schema, 0, false);
  if (!layout.has_records) return;
  layout.record_begin = rounded(checked_sum(layout.fixed_end, options.header_reserve),
                                alignment_of(any_record(schema, 0, true), options));
  place_records(layout, schema);
}

}  // namespace

std::int64_t slab_bytes(const Schema& schema, int variable) {
  const auto& definition = schema.variables.at(variable);
  auto bytes = static_cast<std::int64_t>(size_of(definition.type));
  in_context_of_variable(definition.name, [&] {
    for (const int id : definition.dims) {
      const auto& dim = schema.dims.at(id);
      if (!dim.unlimited) bytes = checked_product(bytes, dim.length);
    }
    checked_sum(bytes, 3);
  });
  return bytes;
}

std::int64_t record_bytes_of(const Schema& schema, const std::vector<std::int64_t>& slabs) {
  std::int64_t sum = 0;
  std::int64_t last = 0;
  for (std::size_t v = 0; v < slabs.size(); ++v) {
    if (!schema.has_record(static_cast<int>(v))) continue;
    last = slabs[v];
    sum = checked_sum(sum, padded(last));
  }
  return sum == padded(last) ? last : sum;
}

std::int64_t ClassicLayout::padding(const Schema& schema, int variable) const {
  const std::int64_t slab = slabs.at(variable);
  if (schema.has_record(variable) && record_bytes == slab) return 0;
  return padded(slab) - slab;
}

std::int64_t ClassicLayout::end(std::int64_t records) const {
  const bool has_fixed = std::any_of(
      begins.begin(), begins.end(), [&](std::int64_t begin) { return !has_records || begin < record_begin; });
  const std::int64_t front = has_fixed ? std::max(header_bytes, fixed_end) : header_bytes;
  if (!has_records || records == 0) return front;
  return std::max(front, checked_sum(record_begin, checked_product(records, record_bytes)));
}

ClassicLayout new_layout(const Schema& schema, std::int64_t header_bytes, const CatalogOptions& options) {
  check_options(options);
  ClassicLayout layout;
  layout.header_bytes = header_bytes;
  layout.slabs = all_slabs(schema);
  layout.begins.assign(layout.slabs.size(), 0);
  layout.fixed_end = padded(header_bytes + options.header_reserve);
  place_fixed(layout, schema, 0, options);
  start_records(layout, schema, options);
  return layout;
}

std::optional<ClassicLayout> extended_layout(const ClassicLayout& old, const Schema& schema,
                                             const CatalogOptions& options) {
  check_options(options);
  const std::int64_t header_bytes = header_bytes_of(schema);
  const int record_dim = schema.record_dim();
  const bool movable_records = record_dim < 0 || schema.dim(record_dim).length == 0;
  const std::size_t old_count = old.begins.size();
  if (old_count > 0 && header_bytes > *std::min_element(old.begins.begin(), old.begins.end()))
    return std::nullopt;
  ClassicLayout layout = old;
  layout.header_bytes = header_bytes;
  layout.slabs = all_slabs(schema);
  layout.begins.resize(layout.slabs.size(), 0);
  layout.fixed_end = std::max(layout.fixed_end, padded(header_bytes));
  place_fixed(layout, schema, old_count, options);
  if (!old.has_records || (movable_records && layout.fixed_end > old.record_begin)) {
    start_records(layout, schema, options);
    return layout;
  }
  const bool added_fixed = layout.fixed_end > old.fixed_end && layout.fixed_end > padded(header_bytes);
  if (added_fixed && layout.fixed_end > old.record_begin) return std::nullopt;
  if (any_record(schema, old_count, false)) {
    if (!movable_records) return std::nullopt;
    place_records(layout, schema);
  }
  return layout;
}

ClassicLayout found_layout(const Schema& schema, std::vector<std::int64_t> begins,
                           std::int64_t header_bytes) {
  ClassicLayout layout;
  layout.header_bytes = header_bytes;
  layout.slabs = all_slabs(schema);
  layout.begins = std::move(begins);
  layout.record_begin = std::numeric_limits<std::int64_t>::max();
  bool has_fixed = false;
  for (std::size_t v = 0; v < layout.slabs.size(); ++v) {
    if (schema.has_record(static_cast<int>(v))) {
      layout.has_records = true;
      layout.record_begin = std::min(layout.record_begin, layout.begins[v]);
    } else {
      has_fixed = true;
      layout.fixed_end = std::max(layout.fixed_end, checked_sum(layout.begins[v], padded(layout.slabs[v])));
    }
  }
  if (!layout.has_records) layout.record_begin = 0;
  layout.record_bytes = record_bytes_of(schema, layout.slabs);
  // Half of what is free in front of the records is left to the header, half to fixed variables that may
  // come.
  if (!has_fixed)
    layout.fixed_end =
        padded(layout.has_records ? header_bytes + (layout.record_begin - header_bytes) / 2 : header_bytes);
  return layout;
}

std::int64_t streamed_records(const Schema& schema, const ClassicLayout& layout, std::uint64_t file_bytes) {
  if (!layout.has_records || layout.record_bytes == 0) return 0;
  const std::int64_t behind =
      std::max<std::int64_t>(static_cast<std::int64_t>(file_bytes) - layout.record_begin, 0);
  std::int64_t last_end = 0;  // of the data, without the padding that may be missing at the end of the file
  for (std::size_t v = 0; v < layout.begins.size(); ++v)
    if (schema.has_record(static_cast<int>(v)))
      last_end = std::max(last_end, checked_sum(layout.begins[v] - layout.record_begin, layout.slabs[v]));
  const std::int64_t whole = behind / layout.record_bytes;
  const bool one_more = behind % layout.record_bytes >= last_end;
  return whole + (one_more ? 1 : 0);
}

namespace {

[[noreturn]] void refuse(Code code, const std::string& message, const std::string& variable) {
  throw Error(code, message).of_variable(variable);
}

std::string better_for(Format format, Type type) {
  if (format != Format::cdf5 && holds(Format::cdf5, type)) return "use the format cdf5 or netcdf4";
  if (holds(Format::netcdf4, type)) return "use the format netcdf4";
  return "give it a type of NetCDF";
}

bool is_there(const Attribute& attribute, const std::vector<Attribute>& have) {
  const Attribute* old = find_attribute(have, attribute.name);
  return old != nullptr && old->type == attribute.type && old->data == attribute.data;
}

void check_attributes(const Schema& schema, const std::vector<Attribute>& attributes,
                      const std::vector<Attribute>& have) {
  for (const auto& attribute : attributes) {
    if (is_there(attribute, have)) continue;
    check_name(attribute.name, "attribute");
    if (!holds(schema.format, attribute.type))
      throw Error(Code::type, "the attribute '{}' is of type {}, which {} files cannot hold; {}",
                  attribute.name, name_of(attribute.type), name_of(schema.format),
                  better_for(schema.format, attribute.type));
    if (attribute.data.size() % size_of(attribute.type) != 0)
      throw Error(Code::invalid_argument,
                  "the attribute '{}' has {} bytes, which is no whole number of elements of type {}",
                  attribute.name, attribute.data.size(), name_of(attribute.type));
    if (schema.format != Format::cdf5 && attribute.count() > std::numeric_limits<std::int32_t>::max())
      throw Error(Code::not_supported, "the attribute '{}' has {} elements; use the format cdf5 or netcdf4",
                  attribute.name, attribute.count());
  }
}

void check_dims(const Schema& schema, std::size_t have, std::int64_t largest) {
  const Dimension* record = nullptr;
  for (std::size_t i = 0; i < schema.dims.size(); ++i) {
    const auto& dim = schema.dims[i];
    if (i >= have) check_name(dim.name, "dimension");
    if (dim.unlimited) {
      if (record != nullptr)
        throw Error(Code::not_supported,
                    "{} files have one unlimited dimension; '{}' is it and '{}' cannot be: give it a length, "
                    "or use the format netcdf4",
                    name_of(schema.format), record->name, dim.name);
      record = &dim;
    } else if (dim.length < 1) {
      throw Error(dim.length < 0 ? Code::invalid_argument : Code::not_supported,
                  "the dimension '{}' has the length {}; in {} files 1 or more is allowed{}", dim.name,
                  dim.length, name_of(schema.format),
                  dim.length == 0 ? ": use the format netcdf4 for a length of 0" : "");
    } else if (dim.length > largest) {
      throw Error(
          Code::not_supported,
          "the dimension '{}' has the length {}; {} files allow up to {}: use the format cdf5 or netcdf4",
          dim.name, dim.length, name_of(schema.format), largest);
    }
  }
}

void check_new_variable(const Schema& schema, const VariableDef& variable) {
  check_name(variable.name, "variable");
  const std::string file = name_of(schema.format);
  if (!holds(schema.format, variable.type))
    throw Error(Code::type, "the type {} cannot be in {} files; {}", name_of(variable.type), file,
                better_for(schema.format, variable.type));
  if (variable.dims.count() > k_max_dims)
    throw Error(Code::not_supported, "{} dimensions; up to {} are allowed", variable.dims.size(), k_max_dims);
  for (std::size_t d = 0; d < variable.dims.size(); ++d) {
    const int id = variable.dims[d];
    if (!schema.dims.has(id)) throw Error(Code::invalid_argument, "there is no dimension {}", id);
    if (d > 0 && schema.dim(id).unlimited)
      throw Error(Code::not_supported,
                  "the unlimited dimension '{}' must be its slowest in {} files; put it there, or use the "
                  "format netcdf4",
                  schema.dim(id).name, file);
  }
  if (!variable.chunks.empty() || !variable.filters.empty())
    throw Error(Code::not_supported, "chunks and compression cannot be in {} files; use the format netcdf4",
                file);
}

/// The one variable that may be larger than `largest` is the last one: no offset is counted from its size.
void check_large(const Schema& schema, bool of_records, bool none_allowed, std::int64_t largest) {
  int large = -1;
  for (std::size_t i = 0; i < schema.variables.size(); ++i) {
    const int v = static_cast<int>(i);
    if (schema.has_record(v) != of_records) continue;
    if (large >= 0 || (none_allowed && slab_bytes(schema, v) > largest)) {
      const int which = large >= 0 ? large : v;
      refuse(Code::not_supported,
             fmt::format("{} bytes{}; a variable of a {} file may have up to {}{}", slab_bytes(schema, which),
                         of_records ? " a record" : "", name_of(schema.format), largest,
                         schema.format == Format::cdf5
                             ? ""
                             : " (only the last may have more): use the format cdf5 or netcdf4"),
             schema.variable(which).name);
    }
    if (slab_bytes(schema, v) > largest) large = v;
  }
}

}  // namespace

void check_classic(const Schema& schema, const Schema& in_file) {
  const Schema have = changed(in_file, schema.changes);
  constexpr std::int64_t k_int = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t k_uint = std::numeric_limits<std::uint32_t>::max();
  // 3 bytes less, as sizes are kept rounded up to multiples of 4.
  const std::int64_t largest = schema.format == Format::cdf1   ? k_int - 3
                               : schema.format == Format::cdf2 ? k_uint - 3
                                                               : std::numeric_limits<std::int64_t>::max() - 3;
  check_dims(schema, have.dims.size(), largest);
  check_attributes(schema, schema.attributes, have.attributes);
  static const std::vector<Attribute> k_none;
  bool records = false;
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    const bool is_new = v >= have.variables.size();
    const auto& old = is_new ? k_none : have.variables[v].attributes;
    in_context_of_variable(schema.variables[v].name, [&] {
      if (is_new) check_new_variable(schema, schema.variables[v]);
      check_attributes(schema, schema.variables[v].attributes, old);
    });
    records = records || schema.has_record(static_cast<int>(v));
  }
  check_large(schema, false, records || schema.format == Format::cdf5, largest);
  check_large(schema, true, schema.format == Format::cdf5, largest);
}

void check_offsets(const Schema& schema, const ClassicLayout& layout) {
  if (schema.format != Format::cdf1) return;
  constexpr std::int64_t k_largest = std::numeric_limits<std::int32_t>::max();
  for (std::size_t v = 0; v < layout.begins.size(); ++v)
    if (layout.begins[v] > k_largest)
      refuse(Code::not_supported,
             fmt::format("it would start at byte {} of the file; cdf1 files allow up to {}: use the format "
                         "cdf2, cdf5 or netcdf4",
                         layout.begins[v], k_largest),
             schema.variables[v].name);
}

namespace {

// Where there was no fill, nothing has been filled with another value.
void check_fill_values(const Schema& have, const Schema& wanted) {
  for (std::size_t v = 0; v < have.variables.size(); ++v) {
    const VariableDef& variable = have.variables[v];
    const bool is_free = variable.no_fill && find_attribute(variable.attributes, "_FillValue") == nullptr;
    if (!is_free && fill_of(variable) != fill_of(wanted.variables[v]))
      refuse(
          Code::state,
          "a _FillValue cannot change after data may have been written; set it when the variable is defined",
          wanted.variables[v].name);
  }
}

}  // namespace

Schema extended_schema(const Schema& have, const Schema& wanted, bool is_filled, FillMode fill) {
  check_extends(have, wanted);
  check_classic(wanted, have);
  if (is_filled) check_fill_values(have, wanted);
  Schema schema = wanted;
  schema.changes.clear();
  for (std::size_t d = 0; d < schema.dims.size(); ++d)
    if (schema.dims[d].unlimited) schema.dims[d].length = d < have.dims.size() ? have.dims[d].length : 0;
  for (std::size_t v = have.variables.size(); v < schema.variables.size(); ++v)
    if (fill == FillMode::none) schema.variables[v].no_fill = true;
  return schema;
}

}  // namespace shoal
