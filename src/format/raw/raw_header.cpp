// SPDX-License-Identifier: BSD-3-Clause
#include "format/raw/raw_header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/text.hpp"
#include "codec/convert.hpp"
#include "format/checks.hpp"
#include "format/classic/layout.hpp"
#include "storage/leftovers.hpp"
#include "storage/paths.hpp"
#include "storage/whole_file.hpp"

namespace shoal {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* k_marker = "shoal_header";
constexpr int k_raw_version = 1;
constexpr std::size_t k_marker_within = 4096;  // bytes from the start of a header file
constexpr std::uint64_t k_most_bytes = std::uint64_t{1} << 30;

[[noreturn]] void damaged(const std::string& what) {
  throw Error(Code::format, "the header file is damaged: " + what);
}

// ---- Attributes

// JSON has no names for these.
Json json_of(double value) {
  if (std::isfinite(value)) return value;
  const std::string sign = std::signbit(value) ? "-" : "";
  return sign + (std::isnan(value) ? "NaN" : "Infinity");
}

Json json_of(const Attribute& attribute) {
  Json json;
  json["name"] = attribute.name;
  json["type"] = name_of(attribute.type);
  if (attribute.type == Type::char_) {
    const std::string text(reinterpret_cast<const char*>(attribute.data.data()), attribute.data.size());
    if (is_utf8(text)) {
      json["value"] = text;
      return json;
    }
  }
  Json values = Json::array();
  const std::byte* at = attribute.data.data();
  with_number(attribute.type, [&](auto value) {
    for (std::int64_t i = 0; i < attribute.count(); ++i, at += sizeof value) {
      std::memcpy(&value, at, sizeof value);
      if constexpr (std::is_floating_point_v<decltype(value)>)
        values.push_back(json_of(static_cast<double>(value)));
      else
        values.push_back(value);
    }
  });
  json["value"] = std::move(values);
  return json;
}

Json json_of(const std::vector<Attribute>& attributes) {
  Json json = Json::array();
  for (const auto& attribute : attributes)
    json.push_back(json_of(attribute));
  return json;
}

// ---- Reading

const Json& member(const Json& json, const char* key, const std::string& where) {
  if (!json.is_object()) damaged(where + " is no object in braces");
  const auto found = json.find(key);
  if (found == json.end()) damaged(fmt::format("{} has no \"{}\"", where, key));
  return *found;
}

const Json& list(const Json& json, const char* key, const std::string& where) {
  const Json& found = member(json, key, where);
  if (!found.is_array()) damaged(fmt::format("\"{}\" of {} is no list in brackets", key, where));
  return found;
}

std::string text(const Json& json, const char* key, const std::string& where) {
  const Json& found = member(json, key, where);
  if (!found.is_string()) damaged(fmt::format("\"{}\" of {} is no text", key, where));
  return found.get<std::string>();
}

/// A number of bytes or cells.
std::int64_t size(const Json& json, const char* key, const std::string& where) {
  const Json& found = member(json, key, where);
  if (!found.is_number_integer() || found < 0 ||
      found > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    damaged(fmt::format("\"{}\" of {} is {}; allowed are whole numbers from 0 on", key, where, found.dump()));
  return found.get<std::int64_t>();
}

bool flag(const Json& json, const char* key, const std::string& where) {
  const Json& found = member(json, key, where);
  if (!found.is_boolean()) damaged(fmt::format("\"{}\" of {} is neither true nor false", key, where));
  return found.get<bool>();
}

Type type(const Json& json, const std::string& where) {
  const std::string name = text(json, "type", where);
  for (int number = static_cast<int>(Type::byte_); number <= static_cast<int>(Type::uint64); ++number)
    if (name == name_of(static_cast<Type>(number))) return static_cast<Type>(number);
  damaged(fmt::format("the type of {} is '{}', which is none of these formats", where, name));
}

double floating(const Json& json, const std::string& where) {
  if (json.is_number()) return json.get<double>();
  if (json == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (json == "-NaN") return -std::numeric_limits<double>::quiet_NaN();
  if (json == "Infinity") return std::numeric_limits<double>::infinity();
  if (json == "-Infinity") return -std::numeric_limits<double>::infinity();
  damaged(fmt::format("a value of {} is {}, which is no number", where, json.dump()));
}

template <class T>
T value_of(const Json& json, const std::string& where) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(floating(json, where));
  } else {
    const bool fits = json.is_number_unsigned()
                          ? std::in_range<T>(json.get<std::uint64_t>())
                          : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
    if (!fits) damaged(fmt::format("a value of {} is {}, which does not fit its type", where, json.dump()));
    return json.get<T>();
  }
}

Attribute attribute_of(const Json& json, const std::string& owner) {
  Attribute attribute;
  attribute.name = text(json, "name", "an attribute of " + owner);
  const std::string where = fmt::format("attribute '{}' of {}", attribute.name, owner);
  check_name(attribute.name, "attribute");
  attribute.type = type(json, where);
  const Json& value = member(json, "value", where);
  if (attribute.type == Type::char_ && value.is_string())
    return Attribute::text(attribute.name, value.get<std::string>());
  if (!value.is_array()) damaged(fmt::format("\"value\" of {} is no list in brackets", where));
  with_number(attribute.type, [&](auto one) {
    for (const Json& element : value) {
      one = value_of<decltype(one)>(element, where);
      const auto* bytes = reinterpret_cast<const std::byte*>(&one);
      attribute.data.insert(attribute.data.end(), bytes, bytes + sizeof one);
    }
  });
  return attribute;
}

std::vector<Attribute> attributes_of(const Json& json, const std::string& owner) {
  std::vector<Attribute> attributes;
  for (const Json& element : list(json, "attributes", owner))
    attributes.push_back(attribute_of(element, owner));
  return attributes;
}

Dimension dimension_of(const Json& json) {
  Dimension dim;
  dim.name = text(json, "name", "a dimension");
  const std::string where = fmt::format("dimension '{}'", dim.name);
  check_name(dim.name, "dimension");
  dim.length = size(json, "length", where);
  dim.unlimited = flag(json, "unlimited", where);
  return dim;
}

void read_variable(const Json& json, RawHeader& header) {
  VariableDef variable;
  variable.name = text(json, "name", "a variable");
  const std::string where = fmt::format("variable '{}'", variable.name);
  variable.type = type(json, where);
  for (const Json& name : list(json, "dimensions", where)) {
    const int dim = name.is_string() ? header.schema.find_dim(name.get<std::string>()) : -1;
    if (dim < 0) damaged(fmt::format("a dimension of {} is {}, which there is none of", where, name.dump()));
    if (!variable.dims.empty() && header.schema.dim(dim).unlimited)
      damaged(fmt::format("the unlimited dimension of {} is not its first", where));
    variable.dims.push_back(dim);
  }
  if (variable.dims.count() > k_max_dims)
    damaged(fmt::format("{} has {} dimensions; up to {} are read", where, variable.dims.size(), k_max_dims));
  if (size(json, "element_bytes", where) != element_bytes(header.schema.format, variable.type))
    damaged(fmt::format("\"element_bytes\" of {} is {}, where type {} has {}", where,
                        json["element_bytes"].dump(), name_of(variable.type),
                        element_bytes(header.schema.format, variable.type)));
  variable.attributes = attributes_of(json, where);
  header.schema.variables.push_back(std::move(variable));
  header.layout.begins.push_back(size(json, "begin", where));
  header.layout.slabs.push_back(
      raw_slab_bytes(header.schema, static_cast<int>(header.schema.variables.size()) - 1));
}

/// No slab may lie in another, nor a record reach into the next.
void check_places(RawHeader& header) {
  const Schema& schema = header.schema;
  RawLayout& layout = header.layout;
  struct Slab {
    std::int64_t begin, end;
    std::size_t variable;
  };
  std::vector<Slab> slabs;
  for (std::size_t v = 0; v < schema.variables.size(); ++v)
    if (layout.slabs[v] > 0)
      slabs.push_back({layout.begins[v], checked_sum(layout.begins[v], layout.slabs[v]), v});
  std::sort(slabs.begin(), slabs.end(), [](const Slab& a, const Slab& b) { return a.begin < b.begin; });
  for (std::size_t i = 0; i < slabs.size(); ++i) {
    const Slab& slab = slabs[i];
    const std::string& name = schema.variables[slab.variable].name;
    if (i > 0 && slab.begin < slabs[i - 1].end)
      damaged(fmt::format("variable '{}' begins at byte {}, inside of variable '{}'", name, slab.begin,
                          schema.variables[slabs[i - 1].variable].name));
    const bool of_records = schema.has_record(static_cast<int>(slab.variable));
    if (!of_records) {
      layout.fixed_end = std::max(layout.fixed_end, slab.end);
    } else if (slab.begin < layout.record_begin || slab.end - layout.record_begin > layout.record_bytes) {
      damaged(fmt::format(
          "variable '{}', bytes {} to {}, is not in the first record, which has {} bytes from byte {} on",
          name, slab.begin, slab.end, layout.record_bytes, layout.record_begin));
    }
  }
  if (layout.record_bytes > 0 && layout.fixed_end > layout.record_begin)
    damaged(fmt::format("the records begin at byte {}, in front of the end of the fixed variables at byte {}",
                        layout.record_begin, layout.fixed_end));
  for (const auto& dim : schema.dims)
    if (dim.unlimited) layout.end(dim.length);  // can be counted
}

void read_head(const Json& json, RawHeader& header) {
  const std::string where = "the header";
  const Json& version = member(json, k_marker, where);
  if (version != k_raw_version)
    throw Error(Code::format, "the header file is of version {}; this Shoal reads version {}", version.dump(),
                k_raw_version);
  const std::string format = text(json, "format", where);
  if (format != name_of(Format::raw) && format != name_of(Format::ascii))
    damaged(fmt::format("\"format\" is '{}'; allowed are raw and ascii", format));
  header.schema.format = format_of(format);
  const std::string order = text(json, "byte_order", where);
  if (order != "little" && order != "big" && order != "none")
    damaged(fmt::format("\"byte_order\" is '{}'; allowed are little, big and (for ascii) none", order));
  if ((order == "none") != (header.schema.format == Format::ascii))
    damaged(fmt::format("\"byte_order\" is '{}', which cannot be for format {}", order, format));
  header.swapped = header.schema.format == Format::raw && (order == "big") != machine_is_big_endian();
  header.layout.record_begin = size(json, "record_begin", where);
  header.layout.record_bytes = size(json, "record_stride", where);
}

RawHeader header_of(const Json& json) {
  RawHeader header;
  read_head(json, header);
  for (const Json& element : list(json, "dimensions", "the header")) {
    Dimension dim = dimension_of(element);
    if (header.schema.find_dim(dim.name) >= 0)
      damaged(fmt::format("there are two dimensions called '{}'", dim.name));
    header.schema.dims.push_back(std::move(dim));
  }
  header.schema.attributes = attributes_of(json, "the file");
  for (const Json& element : list(json, "variables", "the header"))
    read_variable(element, header);
  Schema nothing;
  nothing.format = header.schema.format;
  check_extends(nothing, header.schema);  // names are there once
  check_classic(header.schema, nothing);
  check_places(header);
  return header;
}

// The text beside a file, if it is a header of Shoal's, whole or damaged.
std::optional<std::string> header_beside(const std::string& path) {
  auto found = read_whole_file(header_path(path), k_most_bytes);
  if (found && found->substr(0, k_marker_within).find(fmt::format("\"{}\"", k_marker)) == std::string::npos)
    found.reset();
  return found;
}

}  // namespace

void refuse_foreign_header(const std::string& path) {
  const std::string header = header_path(path);
  if (path_exists(header) && !header_beside(path))
    throw Error(Code::exists,
                "the header of this file would be '{}', which is there and is none; move it, or give the "
                "dataset another name",
                header)
        .in_file(path);
}

std::optional<Format> format_beside(const std::string& path) {
  const std::string beside = header_path(path);
  const auto found = header_beside(path);
  if (!found) return std::nullopt;
  return in_context(beside, [&] { return decode_raw_header(*found).schema.format; });
}

std::string encode_raw_header(const Schema& schema, const RawLayout& layout, bool swapped) {
  const bool text = schema.format == Format::ascii;
  Json json;
  json[k_marker] = k_raw_version;
  json["format"] = name_of(schema.format);
  json["byte_order"] = text ? "none" : machine_is_big_endian() != swapped ? "big" : "little";
  json["record_begin"] = layout.record_begin;
  json["record_stride"] = layout.record_bytes;
  Json& dims = json["dimensions"] = Json::array();
  for (const auto& dim : schema.dims)
    dims.push_back({{"name", dim.name}, {"length", dim.length}, {"unlimited", dim.unlimited}});
  json["attributes"] = json_of(schema.attributes);
  Json& variables = json["variables"] = Json::array();
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    const VariableDef& variable = schema.variables[v];
    Json one;
    one["name"] = variable.name;
    one["type"] = name_of(variable.type);
    one["dimensions"] = Json::array();
    for (const int d : variable.dims)
      one["dimensions"].push_back(schema.dim(d).name);
    one["begin"] = layout.begins[v];
    one["element_bytes"] = element_bytes(schema.format, variable.type);
    one["attributes"] = json_of(variable.attributes);
    variables.push_back(std::move(one));
  }
  return json.dump(1) + "\n";
}

RawHeader decode_raw_header(const std::string& text) {
  try {
    return header_of(Json::parse(text));
  } catch (const Json::exception& error) {
    // The library's own text begins with a number in brackets.
    const std::string what = error.what();
    const std::size_t at = what.find("] ");
    damaged(at == std::string::npos ? what : what.substr(at + 2));
  } catch (const Error& error) {
    if (error.code() == Code::format) throw;
    throw Error(Code::format, "the header file is damaged: " + error.status().message)
        .of_variable(error.status().variable);
  }
}

RawHeader read_raw_header(const std::string& path) {
  const std::string beside = header_path(path);
  const auto found = read_whole_file(beside, k_most_bytes);
  if (!found)
    throw Error(Code::not_found, "there is no such header file, without which {} cannot be read", path)
        .in_file(beside);
  return in_context(beside, [&] { return decode_raw_header(*found); });
}

}  // namespace shoal
