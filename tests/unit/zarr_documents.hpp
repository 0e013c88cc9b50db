// SPDX-License-Identifier: BSD-3-Clause
// What tests of Zarr's metadata share: documents of zarr-python, with something in place of a member.
#pragma once

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "format/zarr/metadata.hpp"

namespace shoal::test {

using namespace zarr;

template <class T>
inline Attribute numbers(const char* name, Type type, std::vector<T> values) {
  return Attribute::numbers(name, type, values.data(), static_cast<std::int64_t>(values.size()));
}

inline Attribute strings(const char* name, std::vector<std::string> values) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = Type::string;
  attribute.strings = std::move(values);
  return attribute;
}

inline Hierarchy read_root(const std::string& text) {
  bool consolidated = false;
  Hierarchy all = parse_root(text, "his.zarr/zarr.json", consolidated);
  CHECK(consolidated);
  return all;
}

inline void check_same(const std::vector<Attribute>& have, const std::vector<Attribute>& wanted) {
  CHECK(have.size() == wanted.size());
  for (const Attribute& one : wanted) {
    CAPTURE(one.name);
    const Attribute* found = find_attribute(have, one.name);
    REQUIRE(found != nullptr);
    CHECK(found->type == one.type);
    CHECK(have_same_values(*found, one));
  }
}

// One array "a" in a store that Shoal did not write.
inline ArrayMetadata one_array(const std::string& node) {
  Hierarchy all;
  parse_node(node, "a", "his.zarr/a/zarr.json", all);
  settle_notes(all);
  return all.arrays.at(0).second;
}

// zarr.json of an array by zarr-python, with something in place of a member, or (empty) without it.
inline std::string document(const std::string& member = "", const std::string& value = "") {
  std::string text = "{";
  const std::pair<const char*, const char*> members[] = {
      {"shape", "[4, 6]"},
      {"data_type", "\"float32\""},
      {"chunk_grid", R"({"name": "regular", "configuration": {"chunk_shape": [2, 6]}})"},
      {"chunk_key_encoding", R"({"name": "default", "configuration": {"separator": "/"}})"},
      {"fill_value", "\"NaN\""},
      {"codecs", R"([{"name": "bytes", "configuration": {"endian": "little"}},
                     {"name": "zstd", "configuration": {"level": 0, "checksum": false}}])"},
      {"attributes", "{}"},
      {"dimension_names", R"(["y", "x"])"},
      {"zarr_format", "3"},
      {"node_type", "\"array\""},
      {"storage_transformers", "[]"},
  };
  bool known = false;
  for (const auto& [name, usual] : members) {
    const bool other = name == member;
    known = known || other;
    if (other && value.empty()) continue;
    text += fmt::format("{}\"{}\": {}", text.size() > 1 ? ", " : "", name, other ? value : usual);
  }
  if (!known && !member.empty()) text += fmt::format(", \"{}\": {}", member, value);
  return text + "}";
}
inline ArrayMetadata array_with(const std::string& member, const std::string& value) {
  return one_array(document(member, value));
}
inline std::string refusal_with(const std::string& member, const std::string& value) {
  return array_with(member, value).refusal;
}
inline std::string codecs(const std::string& inner) {
  return R"([{"name": "bytes", "configuration": {"endian": "little"}}, )" + inner + "]";
}

inline std::string document_v2(const std::string& dtype, const std::string& fill,
                               const std::string& compressor, const std::string& filters = "null",
                               const std::string& order = "C") {
  return fmt::format(R"({{"shape": [3, 4], "chunks": [2, 4], "dtype": {}, "fill_value": {}, "order": "{}",
      "filters": {}, "dimension_separator": ".", "compressor": {}, "zarr_format": 2}})",
                     dtype, fill, order, filters, compressor);
}
inline ArrayMetadata array_v2(const std::string& zarray, const std::string& zattrs = "") {
  Hierarchy all;
  parse_array_v2(zarray, zattrs, "a", "his.zarr/a/.zarray", all);
  settle_notes(all);
  return all.arrays.at(0).second;
}

template <class Work>
inline std::string error_of(Work&& work, Code code = Code::format) {
  try {
    work();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.status().text();
  }
  return {};
}

inline bool has(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE("'" << text << "' has no '" << part << "'");
  return found;
}

template <class T>
T fill_as(const ArrayMetadata& array) {
  T value{};
  REQUIRE(array.fill.size() == sizeof value);
  std::memcpy(&value, array.fill.data(), sizeof value);
  return value;
}

}  // namespace shoal::test
