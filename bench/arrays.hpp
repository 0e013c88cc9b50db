// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "content.hpp"

namespace shoal::bench {

/// What memory holds before values are read to it.
inline constexpr std::byte k_spoilt{0xA5};

/// The value of a cell. level counts the dimensions that are not cut, flattened, plus the record: records
/// differ and a model's array need not be filled anew for each.
double cell_value(std::uint64_t seed, std::int64_t level, std::int64_t row, std::int64_t column);

inline MPI_Datatype mpi_type(Type type) {
  if (type == Type::dbl) return MPI_DOUBLE;
  return type == Type::real ? MPI_FLOAT : MPI_INT;
}

/// Calls visit with a value of the C++ type of a field.
template <class Visit>
auto with_type(Type type, Visit&& visit) {
  if (type == Type::dbl) return visit(double{});
  if (type == Type::real) return visit(float{});
  return visit(std::int32_t{});
}

/// The values of a replicated variable in one record, in its own type's bytes.
std::vector<std::byte> replicated_values(const Field& field, std::int64_t record);

/// A distributed field as the model keeps it: levels x (rows + 2 halo) x (columns + 2 halo), contiguous;
/// fields of one row have no halo of rows.
///
/// Record r is the same memory seen from level r on, which costs records - 1 levels and no time between
/// records.
class LocalField {
 public:
  enum class Memory { full, none };  ///< none: the tile is known, there are no cells

  /// Room for `records` records, without values so far.
  LocalField(const Field& field, const Tile& tile, std::int64_t records, Memory memory = Memory::full);

  /// As `like`, of the same shape and tile, in its memory, for a field with the same values (Field::same_as).
  LocalField(const Field& field, const LocalField& like);

  /// Gives every owned cell its value and every halo cell one that must not be found in a file.
  void fill();
  /// Makes every owned cell wrong, before reading.
  void spoil();

  const Field& field() const { return *field_; }
  const Tile& tile() const { return tile_; }
  std::int64_t row_pitch() const { return tile_.columns + 2 * field_->halo_columns(); }  ///< elements
  std::int64_t level_pitch() const {                                                     ///< elements
    return (tile_.rows + 2 * field_->halo_rows()) * row_pitch();
  }
  std::int64_t owned() const { return field_->levels() * tile_.cells(); }  ///< elements a record
  std::int64_t owned_bytes() const { return owned() * size_of(field_->type); }
  std::size_t memory_bytes() const { return bytes_->size(); }

  /// What libraries ask for, one number for each dimension that is cut: the tile's first cell, its cells, and
  /// the halo on each side.
  std::vector<std::int64_t> first() const;
  std::vector<std::int64_t> count() const;
  std::vector<std::int64_t> halo() const;
  /// Extents of a record of the array, one number for each dimension but that of records: of the owned cells,
  /// and with the halo.
  std::vector<std::int64_t> extents() const;
  std::vector<std::int64_t> extents_with_halo() const;
  /// Bytes from one element to the next along each of these dimensions.
  std::vector<std::int64_t> strides() const;

  /// The array of a record, first halo cell of the first level.
  std::byte* record(std::int64_t r);
  const std::byte* record(std::int64_t r) const;
  /// The same, first owned cell.
  std::byte* interior(std::int64_t r);
  const std::byte* interior(std::int64_t r) const;

  /// Owned cells of a record to or from a contiguous buffer of owned_bytes().
  void pack(std::int64_t r, std::byte* packed) const;
  void unpack(std::int64_t r, const std::byte* packed);

  /// Owned cells of record r of the array that differ from the workload's values of record `expected`.
  std::int64_t wrong_cells(std::int64_t r, std::int64_t expected) const;
  /// The same for a packed buffer.
  std::int64_t wrong_packed(const std::byte* packed, std::int64_t expected) const;

 private:
  const Field* field_;
  Tile tile_;
  std::int64_t levels_;  ///< in memory: those of the field plus one for each further record
  std::uint64_t seed_;
  std::shared_ptr<std::vector<std::byte>> bytes_;
};

/// The packed cells of one level (a record counts as a level more) of a box of the whole field.
std::vector<std::byte> values_of_box(const Field& field, const Tile& box, std::int64_t level);

/// Cells of a packed box (levels x rows x columns of the field's type) that differ from the workload's
/// values, which begin with this level; a record counts as a level more.
std::int64_t wrong_in_box(const Field& field, const Tile& box, std::int64_t level, std::int64_t levels,
                          const std::byte* packed);

/// Every distributed field of a content, as one rank has it: to write (those with the same values share their
/// memory) or to read into.
enum class Purpose { write, read };
std::vector<LocalField> make_arrays(const Content& content, const Grid& grid, const Tiling& tiling, int rank,
                                    std::int64_t records, Purpose purpose);

/// Bytes that the arrays of one rank take, without making them.
std::int64_t arrays_bytes(const Content& content, const Grid& grid, const Tiling& tiling, int rank,
                          std::int64_t records, Purpose purpose);

/// Seed of a field's values: differs with its name, unless another one has the same.
std::uint64_t seed_of(const Field& field);
std::uint64_t seed_of(const std::string& name);

}  // namespace shoal::bench
