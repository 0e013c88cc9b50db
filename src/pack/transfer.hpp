// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "base/error.hpp"
#include "decomp/decomposition.hpp"
#include "pack/cell_array.hpp"

namespace shoal {

class Rounding;

/// Why a rank has no cells to move in a field that it knows: its arguments are bad, or its memory is short.
/// It does its part in all that ranks do together, with the fill value for what it should have written.
struct RefusedShare {
  Status why;  ///< ok: the rank has its cells
  explicit operator bool() const { return !why.ok(); }
};

/// One call of write or read, as a driver sees it: everything in the full dimensions of the variable, record
/// dimension included. variable, region and decomposition are the same on all ranks. (A rank that cannot say
/// them makes a RefusedCall.)
struct Transfer {
  int variable = 0;  ///< index in the schema
  Box region;        ///< the section that all ranks together write or read
  Box mine;  ///< this rank's cells of it; for reading with the halo, inside of the global shape; may be empty
  CellArray array;  ///< extents == mine.count; logical and number types; anything if mine is empty
  std::shared_ptr<const Decomposition> decomposition;  ///< of the last dimensions of the variable
  Dims origin;  ///< what messages add to indices, where these count from the start of a part; empty: nothing
  std::shared_ptr<const Rounding> rounding;  ///< writing only: what becomes of values; nullptr: they stay
  /// Writing only: cells that nobody owns keep what the file has, where it has them, whatever the variable
  /// and the file say of fill values.
  bool keeps_unowned = false;
  /// Writing with a mask only: counts cells of water that hold the fill value, which readers take for
  /// missing.
  std::int64_t* fill_cells = nullptr;
  RefusedShare refused;  ///< this rank takes part with nothing, and all ranks learn why
};

/// A box without cells.
inline Box no_cells(int rank) {
  return {Dims(rank), Dims(rank)};
}

/// Is the decomposition a map, and no block?
inline bool is_mapped(const Transfer& transfer) {
  return transfer.decomposition && transfer.decomposition->map() != nullptr;
}

}  // namespace shoal
