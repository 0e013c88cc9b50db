// SPDX-License-Identifier: BSD-3-Clause
#include "cases.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace shoal::bench::interfaces {

namespace {

std::int64_t product(const std::vector<std::int64_t>& of) {
  return std::accumulate(of.begin(), of.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<std::int64_t> with_levels(std::int64_t levels, std::vector<std::int64_t> of) {
  if (levels > 0) of.insert(of.begin(), levels);
  return of;
}

// Near to square tiles of a grid, as models cut it.
Cut tile_of(std::int64_t rows, std::int64_t columns, std::int64_t levels, int rank, int ranks) {
  int across = 1;
  for (int i = 1; i * i <= ranks; ++i)
    if (ranks % i == 0) across = i;
  const int i = rank % across, j = rank / across, down = ranks / across;
  Cut cut{{rows, columns}, levels, {rows * j / down, columns * i / across}, {}, {}};
  cut.count = {rows * (j + 1) / down - cut.first[0], columns * (i + 1) / across - cut.first[1]};
  return cut;
}

// Columns dealt out one by one, each seventh of which is nobody's (land).
Cut columns_of(std::int64_t columns, std::int64_t levels, int rank, int ranks) {
  Cut cut{{columns}, levels, {}, {}, {}};
  for (std::int64_t column = rank; column < columns; column += ranks)
    if (column % 7 != 3) cut.cells.push_back(column);
  return cut;
}

}  // namespace

std::int64_t Cut::local_cells() const {
  return is_box() ? product(count) : static_cast<std::int64_t>(cells.size());
}

std::vector<std::int64_t> Cut::lengths() const {
  return with_levels(levels, shape);
}

std::vector<std::int64_t> Cut::extents() const {
  return with_levels(levels, is_box() ? count : std::vector<std::int64_t>{local_cells()});
}

std::vector<std::int64_t> Cut::cells_of_all() const {
  std::vector<std::int64_t> level = cells;
  if (is_box())
    for (std::int64_t row = 0; row < count[0]; ++row)
      for (std::int64_t i = 0; i < count[1]; ++i)
        level.push_back((first[0] + row) * shape[1] + first[1] + i);
  const auto of_level = product(shape);
  std::vector<std::int64_t> all;
  all.reserve(level.size() * static_cast<std::size_t>(std::max<std::int64_t>(levels, 1)));
  for (std::int64_t k = 0; k < std::max<std::int64_t>(levels, 1); ++k)
    for (const auto cell : level)
      all.push_back(k * of_level + cell);
  return all;
}

void fill(Cut& cut) {
  const auto cells = cut.cells_of_all();
  cut.values.resize(cells.size());
  std::transform(cells.begin(), cells.end(), cut.values.begin(), [](std::int64_t cell) {
    return static_cast<float>((cell * 2654435761) & 0xFFFFFF);  // exact in a float
  });
}

Cut box_of(const std::vector<std::int64_t>& shape, std::int64_t levels, int rank, int ranks) {
  const auto from = shape[0] * rank / ranks, to = shape[0] * (rank + 1) / ranks;
  return {shape, levels, {from, 0}, {to - from, shape[1]}, {}};
}

Cut columns_box_of(const std::vector<std::int64_t>& shape, std::int64_t levels, int rank, int ranks) {
  const auto from = shape[1] * rank / ranks, to = shape[1] * (rank + 1) / ranks;
  return {shape, levels, {0, from}, {shape[0], to - from}, {}};
}

Case make_case(const std::string& name, bool toy, int rank, int ranks) {
  const std::int64_t part = toy ? 8 : 1;  // of each horizontal length
  Case out{name, "", {}, {}, 1};
  if (name == "large") {
    out.summary = "6 fields of the volume and 3 of the surface, the large grid of roms-size, 2 records";
    out.cuts = {tile_of(640 / part, 656 / part, 16, rank, ranks),
                tile_of(640 / part, 656 / part, 0, rank, ranks)};
    out.fields = {1, 1, 1, 0, 0, 0, 0, 0, 0};
    out.records = 2;
  } else if (name == "lists") {
    out.summary = "200 fields of 4 decompositions: tiles and columns with holes, with levels and without";
    out.cuts = {tile_of(180 / part, 360 / part, 0, rank, ranks),
                tile_of(180 / part, 360 / part, 10, rank, ranks), columns_of(48602 / part, 0, rank, ranks),
                columns_of(48602 / part, 26, rank, ranks)};
    for (int i = 0; i < 200; ++i)
      out.fields.push_back(i % 4);
  } else if (name == "small") {
    out.summary = "1,000 fields of 90 x 45";
    out.cuts = {tile_of(45, 90, 0, rank, ranks)};
    out.fields.assign(1000, 0);
  } else {
    throw std::invalid_argument("there is no case '" + name +
                                "'; there are large, lists, small, initdecomp and memory");
  }
  for (auto& cut : out.cuts)
    fill(cut);
  return out;
}

}  // namespace shoal::bench::interfaces
