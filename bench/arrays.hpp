// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "content.hpp"

namespace shoal::bench {

/// Cells of halo on each side of a tile, in both dimensions that are cut.
inline constexpr std::int64_t k_halo = 2;

/// The value of a cell. level counts the dimensions that are not cut, flattened, plus the record: records
/// differ and a model's array need not be filled anew for each.
double cell_value(std::uint64_t seed, std::int64_t level, std::int64_t row, std::int64_t column);

/// The values of a replicated variable in one record, in its own type's bytes.
std::vector<std::byte> replicated_values(const Field& field, std::int64_t record);

/// A distributed field as the model keeps it: levels x (rows + 2 halo) x (columns + 2 halo), contiguous.
///
/// Record r is the same memory seen from level r on, which costs records - 1 levels and no time between
/// records.
class LocalField {
 public:
  enum class Memory { full, none };  ///< none: the tile is known, there are no cells

  /// Room for `records` records, without values so far.
  LocalField(const Field& field, const Tile& tile, std::int64_t records, Memory memory = Memory::full);

  /// Gives every owned cell its value and every halo cell one that must not be found in a file.
  void fill();
  /// Makes every owned cell wrong, before reading.
  void spoil();

  const Field& field() const { return *field_; }
  const Tile& tile() const { return tile_; }
  std::int64_t row_pitch() const { return tile_.columns + 2 * k_halo; }                 ///< elements
  std::int64_t level_pitch() const { return (tile_.rows + 2 * k_halo) * row_pitch(); }  ///< elements
  std::int64_t owned() const { return field_->levels() * tile_.rows * tile_.columns; }  ///< elements a record
  std::int64_t owned_bytes() const { return owned() * size_of(field_->type); }
  std::size_t memory_bytes() const { return bytes_.size(); }

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
  std::vector<std::byte> bytes_;
};

/// Every distributed field of a content, as one rank has it.
std::vector<LocalField> make_arrays(const Content& content, const Grid& grid, const Tiling& tiling, int rank,
                                    std::int64_t records);

/// Seed of a field's values: differs with its name.
std::uint64_t seed_of(const std::string& name);

}  // namespace shoal::bench
