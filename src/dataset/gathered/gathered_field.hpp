// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dataset/gathered/gathering.hpp"
#include "decomp/cell_positions.hpp"
#include "driver/driver.hpp"
#include "pack/scratch_buffer.hpp"

namespace shoal {

/// The cells of this rank that the mask of a decomposition leaves as water: their indices in the grid, which
/// is of the dimensions that the mask has. Local.
std::vector<std::int64_t> active_points(const Decomposition& masked);

/// How fields of a decomposition of a grid go to a gathered dimension, which has only some cells of it, and
/// come back: as fields that are cut by a map.
class GatheredField {
 public:
  /// Local cells of this rank are looked up in the list. write: also for writing. Failures that concern
  /// writing alone come out there. Collective.
  GatheredField(const Comm& comm, std::shared_ptr<const Decomposition> grid, const OnGrid& how,
                const CellPositions& list, bool write);

  const std::shared_ptr<const Decomposition>& grid() const { return grid_; }
  int dim() const { return dim_; }
  int inner_dims() const { return inner_dims_; }
  const std::shared_ptr<const Decomposition>& own() const { return own_; }  ///< for writing; may be nullptr
  const std::shared_ptr<const Decomposition>& with_halo() const {
    return with_halo_;
  }  ///< with the halo, for reading
  /// Why nothing can be written: water of the decomposition's mask that the list has not. On all ranks alike.
  const Status& unwritable() const { return unwritable_; }

  /// grid: as if the variable had the dimensions of the grid. What goes to the driver in its place; cells,
  /// which may be used for it, must live until then. definition: of the variable. conversion_errors: values
  /// that did not fit. Local.
  Transfer for_writing(const Transfer& grid, const VariableDef& definition, ScratchBuffer& cells,
                       Status& conversion_errors) const;
  /// The same for reading; when that is done, give() puts its cells, and fill values where the list has none,
  /// to the caller's array, but for land of the mask. Local.
  Transfer for_reading(const Transfer& grid, const VariableDef& definition, ScratchBuffer& cells) const;
  Status give(const Transfer& grid, const VariableDef& definition, const Transfer& read) const;

 private:
  std::vector<bool> active_cells() const;
  std::vector<std::int64_t> cells_of(const Box& box) const;
  Transfer in_file(const Transfer& grid, const std::shared_ptr<const Decomposition>& map) const;
  Dims list_extents(const Box& box) const;
  Status fill_masked_cells(const Transfer& grid, const VariableDef& definition) const;

  std::shared_ptr<const Decomposition> grid_;
  int dim_, inner_dims_;
  int grid_dims_;
  std::int64_t length_;  // of the gathered dimension
  std::shared_ptr<const Decomposition> own_, with_halo_;
  std::vector<std::int64_t> absent_;  // of a map: local cells that the list has not, and no mask calls land
  Status unwritable_;
};

}  // namespace shoal
