// SPDX-License-Identifier: BSD-3-Clause
#include "writers.hpp"

#include <netcdf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

#include "arrays.hpp"
#include "netcdf_file.hpp"

namespace shoal::bench {

namespace {

std::string axis_variable(const Content& content, const std::string& dimension) {
  for (const auto& field : content.fields)
    if (field.name == dimension) return {};
  return dimension;
}

// The content as a file of the set has it: dimensions cut, axes added.
Content content_of_file(const Content& whole, const Slices& slices) {
  Content c = whole;
  for (auto& d : c.dimensions)
    if (const auto at = slices.find(d.name); at != slices.end()) d.length = at->second.count;
  for (auto& f : c.fields)
    for (std::size_t d = f.record ? 1 : 0; d < f.dims.size(); ++d)
      f.shape[d - (f.record ? 1 : 0)] = c.length_of(f.dims[d]);
  for (const auto& [name, slice] : slices)
    if (!axis_variable(whole, name).empty()) c.add(name, Type::dbl, name, false);
  return c;
}

Slice slice_of(const Content& whole, const Slices& slices, const std::string& dimension) {
  const auto at = slices.find(dimension);
  return at != slices.end() ? at->second : Slice{0, whole.length_of(dimension)};
}

// One record of a variable, packed: of an added axis, numbers that nobody looks at.
std::vector<std::byte> values_of(const Content& whole, const Slices& slices, const Field& field,
                                 std::int64_t record) {
  const auto n = field.dims.size();
  if (!field.distributed) {
    const bool known = axis_variable(whole, field.name).empty() || !slices.contains(field.name);
    if (!known || field.shape.size() != 1)
      return known ? replicated_values(field, record)
                   : std::vector<std::byte>(static_cast<std::size_t>(field.elements() * size_of(field.type)));
    Field all = field;
    all.shape[0] = whole.length_of(field.dims[n - 1]);
    const auto values = replicated_values(all, record);
    const auto part = slice_of(whole, slices, field.dims[n - 1]);
    const auto begin = values.begin() + part.first * size_of(field.type);
    return {begin, begin + part.count * size_of(field.type)};
  }
  const auto along = slice_of(whole, slices, field.dims[n - 1]);
  const auto across = field.cut == 2 ? slice_of(whole, slices, field.dims[n - 2]) : Slice{0, 1};
  const Tile box{across.first, across.count, along.first, along.count};
  std::vector<std::byte> values;
  for (std::int64_t k = 0; k < field.levels(); ++k) {
    const auto level = values_of_box(field, box, k + record);
    values.insert(values.end(), level.begin(), level.end());
  }
  return values;
}

std::array<int, 4> decomposition_of(const Content& whole, const std::string& dimension, const Slice& slice) {
  return {1, static_cast<int>(whole.length_of(dimension)), static_cast<int>(slice.first) + 1,
          static_cast<int>(slice.first + slice.count)};
}

std::string line_of(const std::byte* value, Type type) {
  std::array<char, 40> text{};
  double real = 0;
  if (type == Type::dbl) {
    std::memcpy(&real, value, 8);
    std::snprintf(text.data(), text.size(), "%25.17g\n", real);
  } else if (type == Type::real) {
    float single = 0;
    std::memcpy(&single, value, 4);
    std::snprintf(text.data(), text.size(), "%16.9g\n", static_cast<double>(single));
  } else {
    std::int32_t integer = 0;
    std::memcpy(&integer, value, 4);
    std::snprintf(text.data(), text.size(), "%11d\n", integer);
  }
  return text.data();
}

std::int64_t width_of(Type type, bool text) {
  if (!text) return size_of(type);
  return type == Type::dbl ? 26 : type == Type::real ? 17 : 12;
}

// A variable in the header file.
std::string header_of(const Content& whole, const Slices& slices, const Field& field, std::size_t begin,
                      std::int64_t width) {
  std::string dims, reported;
  for (const auto& d : field.dims)
    dims += (dims.empty() ? "\"" : ", \"") + d + "\"";
  if (const auto at = slices.find(field.name); at != slices.end())
    for (const int n : decomposition_of(whole, field.name, at->second))
      reported += (reported.empty() ? "" : ", ") + std::to_string(n);
  if (!reported.empty())
    reported = R"({"name": "domain_decomposition", "type": "int", "value": [)" + reported + "]}";
  const char* type = field.type == Type::dbl ? "double" : field.type == Type::real ? "float" : "int";
  return R"({"name": ")" + field.name + R"(", "type": ")" + type + R"(", "dimensions": [)" + dims +
         R"(], "begin": )" + std::to_string(begin) + R"(, "element_bytes": )" + std::to_string(width) +
         R"(, "attributes": [)" + reported + "]}";
}

}  // namespace

void write_netcdf(const std::string& path, const std::string& format, const Content& content,
                  std::int64_t records, const Slices& slices) {
  const auto part = content_of_file(content, slices);
  int file = -1;
  check_netcdf(nc_create(path.c_str(), NC_CLOBBER | netcdf_create_mode(format), &file), "creation", path);
  const auto ids = define_netcdf(file, part, path);
  check_netcdf(nc_redef(file), "definitions", path);
  for (const auto& [name, slice] : slices) {
    int id = -1;
    check_netcdf(nc_inq_varid(file, name.c_str(), &id), name, path);
    const auto reported = decomposition_of(content, name, slice);
    check_netcdf(nc_put_att_int(file, id, "domain_decomposition", NC_INT, 4, reported.data()), name, path);
  }
  check_netcdf(nc_enddef(file), "definitions", path);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& field = part.fields[i];
    for (std::int64_t r = 0; r < (field.record ? records : 1); ++r) {
      const auto s = section_of_all<std::size_t>(field, r);
      check_netcdf(nc_put_vara(file, ids[i], s.start.data(), s.count.data(),
                               values_of(content, slices, field, r).data()),
                   field.name, path);
    }
  }
  check_netcdf(nc_close(file), "closing", path);
}

void write_raw(const std::string& path, bool text, bool big_endian, const Content& content,
               std::int64_t records, const Slices& slices) {
  const auto part = content_of_file(content, slices);
  std::string data, dimensions, variables;
  for (const auto& d : part.dimensions)
    dimensions += (dimensions.empty() ? "" : ",\n  ") + std::string(R"({"name": ")") + d.name +
                  R"(", "length": )" + std::to_string(d.length == 0 ? records : d.length) +
                  R"(, "unlimited": )" + (d.length == 0 ? "true" : "false") + "}";
  const bool swap = !text && big_endian == (std::endian::native == std::endian::little);
  const auto append = [&](const Field& field, std::int64_t record) {
    auto values = values_of(content, slices, field, record);
    const auto size = size_of(field.type);
    for (auto value = values.begin(); value != values.end(); value += size) {
      if (swap) std::reverse(value, value + size);
      data += text ? line_of(&*value, field.type)
                   : std::string(reinterpret_cast<const char*>(&*value), static_cast<std::size_t>(size));
    }
  };
  std::map<std::string, std::size_t> begins;
  std::size_t record_begin = 0;
  for (std::int64_t r = -1; r < records; ++r) {
    if (r == 0) record_begin = data.size();
    for (const auto& field : part.fields) {
      if (field.record != (r >= 0)) continue;
      begins.try_emplace(field.name, data.size());
      append(field, std::max<std::int64_t>(r, 0));
    }
  }
  const auto stride = records > 0 ? (data.size() - record_begin) / static_cast<std::size_t>(records) : 0;
  for (const auto& field : part.fields)
    variables += (variables.empty() ? "" : ",\n  ") +
                 header_of(content, slices, field, begins[field.name], width_of(field.type, text));
  std::ofstream(path, std::ios::binary) << data;
  std::ofstream(path + ".json") << "{\"shoal_header\": 1, \"format\": \"" << (text ? "ascii" : "raw")
                                << "\", \"byte_order\": \""
                                << (text         ? "none"
                                    : big_endian ? "big"
                                                 : "little")
                                << "\",\n \"record_begin\": " << record_begin
                                << ", \"record_stride\": " << stride << ",\n \"dimensions\": [" << dimensions
                                << "],\n \"attributes\": [],\n \"variables\": [" << variables << "]}\n";
}

}  // namespace shoal::bench
