// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace shoal::bench {

/// Element types of the workloads; the numbers are NetCDF's, and Shoal's.
enum class Type : int { integer = 4, real = 5, dbl = 6 };

/// Bytes of one element.
std::int64_t size_of(Type type);

struct Dimension {
  std::string name;
  std::int64_t length;  ///< 0: the record dimension
};

/// One variable of a workload. A distributed one is cut in its last two dimensions, or in the last one alone:
/// then it is a field of a single row.
struct Field {
  std::string name;
  Type type = Type::real;
  std::vector<std::string> dims;    ///< slowest first, the record dimension included
  std::vector<std::int64_t> shape;  ///< global shape without the record dimension
  bool record = false;              ///< the first dimension is the record dimension
  bool distributed = false;
  int cut = 2;             ///< dimensions that are cut, 1 or 2; distributed fields only
  std::int64_t halo = 0;   ///< cells on each side of a tile in memory, in the dimensions that are cut
  bool scattered = false;  ///< a rank has columns of a part of a curve over a sphere, not a box; cut is 1
  std::vector<std::pair<std::string, std::string>> attributes;  ///< text
  std::string same_as;        ///< name of an earlier field of the same shape with the same values; "": none
  std::vector<double> given;  ///< values of a replicated variable, record after record; empty: made up

  std::int64_t elements() const;  ///< of one record
  std::int64_t levels() const;    ///< product of the dimensions that are not cut; distributed fields only
  std::int64_t rows() const;      ///< global length of the last dimension but one; 1 if it is not cut
  std::int64_t columns() const;   ///< global length of the last dimension
  std::int64_t halo_rows() const { return cut == 2 ? halo : 0; }
  std::int64_t halo_columns() const { return halo; }
  std::vector<std::int64_t> cut_shape() const;  ///< global lengths of the dimensions that are cut
};

/// units: empty if it has none.
void set_attributes(Field& field, const std::string& long_name, const std::string& units);

/// What a file is made of: dimensions and variables, in the order of definition.
struct Content {
  std::vector<Dimension> dimensions;
  std::vector<Field> fields;
  bool define_only = false;  ///< the file is defined and closed, no values are written
  int cut = 2;               ///< of the distributed fields that are added from now on
  std::int64_t halo = 0;     ///< the same
  bool scattered = false;    ///< the same

  void dimension(const std::string& name, std::int64_t length);
  std::int64_t length_of(const std::string& dimension) const;  ///< error if there is none of the name
  /// Adds a variable, its shape taken from the dimensions named, blanks between.
  Field& add(const std::string& name, Type type, const std::string& dims, bool distributed);

  std::int64_t replicated_bytes(std::int64_t records) const;   ///< of the variables that one rank puts
  std::int64_t distributed_bytes(std::int64_t records) const;  ///< of the variables that are cut
  bool any_scattered() const;
  /// Fields that would be scattered are cut in blocks.
  void cut_in_blocks();
};

/// Size of a workload's grid: points in xi, eta and s. Fields of one row: eta is 1.
struct Grid {
  std::int64_t xi = 0, eta = 0, s = 0;
};

/// How the ranks cut the grid: number of tiles in xi and in eta.
struct Tiling {
  int xi = 1, eta = 1;
};

/// The box of one rank in the last two dimensions of a field, 0-based; of a scattered field, a list of
/// columns.
struct Tile {
  std::int64_t first_row = 0, rows = 0, first_column = 0, columns = 0;
  std::shared_ptr<const std::vector<std::int64_t>> list = nullptr;  ///< ascending; null: a box
  bool empty() const { return rows == 0 || columns == 0; }
  std::int64_t cells() const { return rows * columns; }
  /// Place in the whole field of a column (a row) of the tile. Who asks here, and not for first_column, can
  /// do with columns that do not follow one another.
  std::int64_t column(std::int64_t i) const {
    return list ? (*list)[static_cast<std::size_t>(i)] : first_column + i;
  }
  std::int64_t row(std::int64_t j) const { return first_row + j; }
};

/// The tile of a rank. Grids are cut on the points of the largest (rho) grid, so that the staggered ones, a
/// point shorter, are short on the last tile alone; ranks count along xi first. Fields of one row are cut in
/// as many parts as there are ranks.
Tile tile_of(const Field& field, const Grid& grid, const Tiling& tiling, int rank);

/// Columns of a scattered field that follow one another in it, f(first column, columns), from the first on.
template <class F>
void for_runs(const Tile& tile, F&& f) {
  for (std::int64_t i = 0; i < tile.columns;) {
    std::int64_t end = i + 1;
    while (end < tile.columns && tile.column(end) == tile.column(end - 1) + 1)
      ++end;
    f(tile.column(i), end - i);
    i = end;
  }
}

/// How a distributed field of a tiling lies in a file with all of it: runs of elements that follow one
/// another and are one rank's, counted on one level. Rows of a tile as wide as the field are one run.
struct Runs {
  std::int64_t in_all = 0;          ///< of all ranks
  std::int64_t most_of_a_rank = 0;  ///< of the rank with the most
  std::int64_t longest = 0;         ///< elements of the longest
};
Runs contiguous_runs(const Field& field, const Grid& grid, const Tiling& tiling);
/// The same of the content's largest distributed field.
Runs contiguous_runs(const Content& content, const Grid& grid, const Tiling& tiling);

}  // namespace shoal::bench
