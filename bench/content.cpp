// SPDX-License-Identifier: BSD-3-Clause
#include "content.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "grids/cubed_sphere.hpp"

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
  for (std::size_t i = 0; i + static_cast<std::size_t>(cut) < shape.size(); ++i)
    n *= shape[i];
  return n;
}

std::int64_t Field::rows() const {
  return cut == 2 ? shape[shape.size() - 2] : 1;
}
std::int64_t Field::columns() const {
  return shape.back();
}

std::vector<std::int64_t> Field::cut_shape() const {
  return {shape.end() - cut, shape.end()};
}

void Content::dimension(const std::string& name, std::int64_t length) {
  dimensions.push_back({name, length});
}

std::int64_t Content::length_of(const std::string& dimension) const {
  for (const auto& d : dimensions)
    if (d.name == dimension) return d.length;
  throw std::logic_error("workload: no dimension '" + dimension + "'");
}

void set_attributes(Field& field, const std::string& long_name, const std::string& units) {
  field.attributes = {{"long_name", long_name}};
  if (!units.empty()) field.attributes.emplace_back("units", units);
}

Field& Content::add(const std::string& name, Type type, const std::string& dims, bool distributed) {
  Field field;
  field.name = name;
  field.type = type;
  field.distributed = distributed;
  field.cut = cut;
  field.halo = halo;
  field.scattered = scattered && distributed;
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

bool Content::any_scattered() const {
  return std::any_of(fields.begin(), fields.end(), [](const Field& f) { return f.scattered; });
}

void Content::cut_in_blocks() {
  for (auto& f : fields)
    f.scattered = false;
}

Tile tile_of(const Field& field, const Grid& grid, const Tiling& tiling, int rank) {
  if (field.scattered) {
    auto list = grids::sphere_columns(field.columns(), rank, tiling.xi * tiling.eta);
    return {0, 1, 0, static_cast<std::int64_t>(list->size()), list};
  }
  const Tiling parts = field.cut == 2 ? tiling : Tiling{tiling.xi * tiling.eta, 1};
  const std::int64_t i = rank % parts.xi, j = rank / parts.xi;
  const auto cut = [](std::int64_t length, std::int64_t part, std::int64_t of) { return length * part / of; };
  Tile tile;
  tile.first_column = std::min(cut(grid.xi, i, parts.xi), field.columns());
  tile.columns = std::min(cut(grid.xi, i + 1, parts.xi), field.columns()) - tile.first_column;
  tile.first_row = std::min(cut(grid.eta, j, parts.eta), field.rows());
  tile.rows = std::min(cut(grid.eta, j + 1, parts.eta), field.rows()) - tile.first_row;
  return tile;
}

Runs contiguous_runs(const Field& field, const Grid& grid, const Tiling& tiling) {
  Runs runs;
  for (int rank = 0; rank < tiling.xi * tiling.eta; ++rank) {
    const auto tile = tile_of(field, grid, tiling, rank);
    if (tile.empty()) continue;
    if (tile.list) {
      std::int64_t mine = 0;
      for_runs(tile, [&](std::int64_t, std::int64_t columns) {
        ++mine;
        runs.longest = std::max(runs.longest, columns);
      });
      runs.in_all += mine;
      runs.most_of_a_rank = std::max(runs.most_of_a_rank, mine);
      continue;
    }
    const bool wide = tile.columns == field.columns();
    const auto mine = wide ? 1 : tile.rows;
    runs.in_all += mine;
    runs.most_of_a_rank = std::max(runs.most_of_a_rank, mine);
    runs.longest = std::max(runs.longest, wide ? tile.cells() : tile.columns);
  }
  return runs;
}

Runs contiguous_runs(const Content& content, const Grid& grid, const Tiling& tiling) {
  const Field* largest = nullptr;
  for (const auto& field : content.fields)
    if (field.distributed && (largest == nullptr || field.elements() > largest->elements())) largest = &field;
  return largest == nullptr ? Runs{} : contiguous_runs(*largest, grid, tiling);
}

}  // namespace shoal::bench
