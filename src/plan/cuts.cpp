// SPDX-License-Identifier: BSD-3-Clause
#include "plan/cuts.hpp"

#include <mpi.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "dataset/maps/map_file.hpp"
#include "grids/cubed_sphere.hpp"

namespace shoal::plan {

namespace {

Dims reversed(const Dims& dims) {
  Dims out;
  for (int d = dims.size(); d-- > 0;)
    out.push_back(dims[d]);
  return out;
}

Box tile_of(const Dims& global, const Dims& grid, int rank) {
  Box box = Box::whole(global);
  std::int64_t rest = rank;
  for (int d = global.size(); d-- > 0; rest /= grid[d]) {
    // n * global[d] / grid[d], whose product may have more than 64 bits.
    const auto boundary = [&](std::int64_t n) {
      return n * (global[d] / grid[d]) + n * (global[d] % grid[d]) / grid[d];
    };
    const std::int64_t place = rest % grid[d];
    box.first[d] = boundary(place);
    box.count[d] = boundary(place + 1) - box.first[d];
  }
  return box;
}

/// Offsets in the file are numbers of 64 bits.
void check_size(const SimulatedField& field) {
  double bytes = static_cast<double>(field.size);
  std::string shape;
  for (int d = field.global.size(); d-- > 0;) {
    bytes *= static_cast<double>(field.global[d]);
    shape += std::to_string(field.global[d]) + (d > 0 ? "x" : "");
  }
  if (bytes > std::ldexp(1.0, 62))
    throw Error(Code::invalid_argument,
                "the field, of the shape {}, has more than 2^62 bytes; no more are possible", shape);
}

/// Of a x b tiles over the two fastest dimensions, those that are nearest to squares.
Dims square_grid(const Dims& global, int ranks) {
  const int n = global.size();
  Dims grid(n, 1);
  grid[n - 1] = ranks;
  if (n == 1) return grid;
  double best = HUGE_VAL;
  for (std::int64_t a = 1; a <= ranks; ++a) {
    if (ranks % a != 0) continue;
    const std::int64_t b = ranks / a;
    const double x = static_cast<double>(global[n - 1]) / static_cast<double>(a);
    const double y = static_cast<double>(global[n - 2]) / static_cast<double>(b);
    const double odd = std::abs(std::log(x / y));
    if (odd >= best) continue;
    best = odd;
    grid[n - 1] = a;
    grid[n - 2] = b;
  }
  return grid;
}

}  // namespace

Dims dims_of_text(const std::string& option, const std::string& text) {
  Dims dims;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (bool more = true; more;) {
    std::int64_t n = 0;
    const auto [stop, error] = std::from_chars(at, end, n);
    more = stop != end && *stop == 'x';
    if (error != std::errc() || n < 1 || (stop != end && !more) || dims.size() == k_max_dims - 1)
      throw Error(Code::invalid_argument, "{} is '{}'; write 1 to {} numbers, each 1 or more, with x between",
                  option, text, k_max_dims - 1);
    dims.push_back(n);
    at = more ? stop + 1 : stop;
  }
  return reversed(dims);
}

Dims cut_in_tiles(SimulatedField& field, Dims grid) {
  check_size(field);
  const int n = field.global.size();
  if (grid.empty()) grid = square_grid(field.global, field.ranks);
  if (grid.size() > n)
    throw Error(Code::invalid_argument, "there are tiles in {} dimensions, but the global shape has {}",
                grid.size(), n);
  grid = joined(Dims(n - grid.size(), 1), grid);
  if (std::any_of(grid.begin(), grid.end(), [&](std::int64_t tiles) { return tiles > field.ranks; }))
    throw Error(Code::invalid_argument, "there are more tiles than {} ranks", field.ranks);
  if (volume(grid) != field.ranks)
    throw Error(Code::invalid_argument, "there are {} tiles, but {} ranks", volume(grid), field.ranks);
  field.tile = [global = field.global, grid](int rank) { return tile_of(global, grid, rank); };
  // The tiles that have the first or the last cells of each dimension.
  for (int which = 0; which < 1 << n; ++which) {
    std::int64_t rank = 0;
    for (int d = 0; d < n; ++d)
      rank = rank * grid[d] + ((which >> d & 1) != 0 ? grid[d] - 1 : 0);
    field.corners.push_back(static_cast<int>(rank));
  }
  return grid;
}

void cut_sphere(SimulatedField& field, std::int64_t ne, std::int64_t levels) {
  const std::int64_t columns = 6 * 9 * ne * ne + 2;
  field.global = levels > 0 ? Dims{levels, columns} : Dims{columns};
  check_size(field);
  field.outer_dims = levels > 0 ? 1 : 0;
  const auto curve = std::make_shared<const grids::SphereCurve>(columns);
  field.cells = [curve, ranks = field.ranks](int rank) { return curve->columns_of(rank, ranks); };
  field.corners = {0, field.ranks - 1};
}

void cut_as_file(SimulatedField& field, const std::string& path, const std::string& name,
                 std::int64_t levels) {
  int started = 0;
  MPI_Initialized(&started);
  if (started == 0) {
    MPI_Init(nullptr, nullptr);
    std::atexit([] { MPI_Finalize(); });
  }
  const auto loaded = [&] {
    try {
      return load_decomposition(MPI_COMM_SELF, path, name);
    } catch (const Error& e) {
      const bool has_several = name.empty() && e.code() == Code::invalid_argument;
      throw has_several ? Error(e.code(), std::string(e.what()) + ", by --map-name") : e;
    }
  }();
  const auto cells = std::make_shared<const std::vector<std::int64_t>>(local_cells(*loaded));
  field.outer_dims = levels > 0 ? 1 : 0;
  field.global = levels > 0 ? joined(Dims{levels}, loaded->global()) : loaded->global();
  field.uncut_dims = loaded->uncut_dims();
  check_size(field);
  field.cells = [cells, ranks = field.ranks](int rank) {
    const auto n = static_cast<std::int64_t>(cells->size());
    return std::vector<std::int64_t>(cells->begin() + map_file::even_begin(n, ranks, rank),
                                     cells->begin() + map_file::even_begin(n, ranks, rank + 1));
  };
  field.corners = {0, field.ranks - 1};
}

}  // namespace shoal::plan
