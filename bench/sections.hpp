// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "content.hpp"

// What calls of all libraries get of a content: parts of variables, and definitions.
namespace shoal::bench {

/// Start and count in all dimensions of a variable, slowest first. Int: as the library has them. There is a
/// pointer even for scalars.
template <class Int>
struct Section {
  std::vector<Int> start, count;
};

/// All of a field, or of one record of it.
template <class Int>
Section<Int> section_of_all(const Field& field, std::int64_t record) {
  Section<Int> s;
  for (auto* list : {&s.start, &s.count})
    list->reserve(field.shape.size() + 1);
  if (field.record) {
    s.start.push_back(static_cast<Int>(record));
    s.count.push_back(1);
  }
  for (const auto n : field.shape) {
    s.start.push_back(0);
    s.count.push_back(static_cast<Int>(n));
  }
  return s;
}

/// All levels of a tile, a box. Without cells: counts 0, as a rank takes its part in the call nevertheless.
template <class Int>
Section<Int> section_of_tile(const Field& field, const Tile& tile, std::int64_t record) {
  auto s = section_of_all<Int>(field, record);
  const auto n = s.start.size();
  s.start[n - 1] = static_cast<Int>(tile.first_column);
  s.count[n - 1] = static_cast<Int>(tile.columns);
  if (field.cut == 2) {
    s.start[n - 2] = static_cast<Int>(tile.first_row);
    s.count[n - 2] = static_cast<Int>(tile.rows);
  }
  if (tile.empty()) std::fill(s.count.begin(), s.count.end(), 0);
  return s;
}

/// Defines all by id = def_dim(dimension), id = def_var(field, ids of its dimensions) and
/// put_att(id, name of what it belongs to, key, value). Returns the ids of variables in their order.
template <class DefDim, class DefVar, class PutAtt>
std::vector<int> define_all(const Content& content, DefDim&& def_dim, DefVar&& def_var, PutAtt&& put_att) {
  std::map<std::string, int> dims;
  for (const auto& d : content.dimensions)
    dims[d.name] = def_dim(d);
  std::vector<int> ids;
  for (const auto& field : content.fields) {
    std::vector<int> of;
    of.reserve(field.dims.size() + 1);
    for (const auto& name : field.dims)
      of.push_back(dims[name]);
    ids.push_back(def_var(field, of));
    for (const auto& [key, value] : field.attributes)
      put_att(ids.back(), "attribute " + field.name + ":" + key, key, value);
  }
  return ids;
}

}  // namespace shoal::bench
