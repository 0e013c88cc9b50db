// SPDX-License-Identifier: BSD-3-Clause
#include "content.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace shoal::bench {

std::int64_t size_of(Type type) {
  return type == Type::dbl ? 8 : 4;
}

std::int64_t Field::elements() const {
  std::int64_t n = 1;
  for (const auto length : shape)
    n *= length;
  return n;
}

std::int64_t Field::levels() const {
  std::int64_t n = 1;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i)
    n *= shape[i];
  return n;
}

std::int64_t Field::rows() const {
  return shape[shape.size() - 2];
}
std::int64_t Field::columns() const {
  return shape.back();
}

void Content::dimension(const std::string& name, std::int64_t length) {
  dimensions.push_back({name, length});
}

std::int64_t Content::length_of(const std::string& dimension) const {
  for (const auto& d : dimensions)
    if (d.name == dimension) return d.length;
  throw std::logic_error("workload: no dimension '" + dimension + "'");
}

Field& Content::add(const std::string& name, Type type, const std::string& dims, bool distributed) {
  Field field;
  field.name = name;
  field.type = type;
  field.distributed = distributed;
  std::istringstream words(dims);
  for (std::string word; words >> word;) {
    const auto length = length_of(word);
    if (length == 0 && field.dims.empty()) {
      field.record = true;
    } else {
      field.shape.push_back(length);
    }
    field.dims.push_back(word);
  }
  fields.push_back(std::move(field));
  return fields.back();
}

std::int64_t Content::replicated_bytes(std::int64_t records) const {
  std::int64_t bytes = 0;
  for (const auto& f : fields)
    if (!f.distributed) bytes += f.elements() * size_of(f.type) * (f.record ? records : 1);
  return bytes;
}

std::int64_t Content::distributed_bytes(std::int64_t records) const {
  std::int64_t bytes = 0;
  for (const auto& f : fields)
    if (f.distributed) bytes += f.elements() * size_of(f.type) * (f.record ? records : 1);
  return bytes;
}

Tile tile_of(const Field& field, const Grid& grid, const Tiling& tiling, int rank) {
  const std::int64_t i = rank % tiling.xi, j = rank / tiling.xi;
  const auto cut = [](std::int64_t length, std::int64_t part, std::int64_t parts) {
    return length * part / parts;
  };
  Tile tile;
  tile.first_column = std::min(cut(grid.xi, i, tiling.xi), field.columns());
  tile.columns = std::min(cut(grid.xi, i + 1, tiling.xi), field.columns()) - tile.first_column;
  tile.first_row = std::min(cut(grid.eta, j, tiling.eta), field.rows());
  tile.rows = std::min(cut(grid.eta, j + 1, tiling.eta), field.rows()) - tile.first_row;
  return tile;
}

}  // namespace shoal::bench
