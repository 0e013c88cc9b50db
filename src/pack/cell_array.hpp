// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "base/bytes.hpp"
#include "pack/cell_access.hpp"

namespace shoal {

/// An array of a rank, in memory of any kind: its elements and extents, and the access to its cells.
class CellArray {
 public:
  CellArray() = default;
  /// In the host's memory. A view whose data is nullptr has no cells, and stays a description.
  CellArray(const ArrayView& view) : CellArray(view, view.data != nullptr ? HostCells::shared() : nullptr) {}
  CellArray(const ArrayView& view, std::shared_ptr<CellAccess> access)
      : view_(view), access_(std::move(access)) {}
  /// What a caller gave, wherever it lies.
  static CellArray of_caller(const ArrayView& view);
  /// Elements that are made as they are asked for (SourceCells).
  static CellArray of_source(Type type, const Dims& extents, CellSource source, const Dims& first,
                             std::int64_t most_cells = INT64_MAX);

  Type type() const { return view_.type; }
  Element element() const { return {view_.type, view_.element_size, false, view_.packer}; }
  const Dims& extents() const { return view_.extents; }
  bool has_cells() const { return access_ != nullptr; }
  /// The element with all indices 0, where the host can read and write the array itself; else nullptr.
  std::byte* host_cells() const { return has_cells() && access_->is_host() ? view_.data : nullptr; }
  /// The same, and nullptr too where cells are no elements of the type that lie row-major without gaps. (They
  /// may have to be rounded.)
  std::byte* host_cells_as(Type type) const;
  /// Has it memory in which its cells lie row-major without gaps?
  bool is_dense() const;
  /// Is its memory the host's, and begins there, with these bytes from one cell to the next?
  bool lies_at(const std::byte* first, const Dims& strides) const;

  /// Cells in the host's memory, with such elements.
  static CellArray of_elements(const Element& element, std::byte* cells, const Dims& extents);
  /// The same cells as values of a variable that is packed.
  CellArray packed_by(const Packer* packer) const;

  /// The description alone.
  CellArray without_cells() const;
  /// The cells of a box. Not of a source.
  CellArray part(const Box& box) const { return {view_.part(box), access_}; }
  /// With one more dimension in front, of length 1.
  CellArray with_leading_dim() const;
  /// The cells at an index of the first dimension, in the others. Not of a source.
  CellArray at(std::int64_t index) const;
  /// Dense cells in other dimensions.
  CellArray with_extents(const Dims& extents) const;

  // As CellAccess has them.
  ConversionErrors gather(const BlockCells& cells, std::byte* to, const CellConversion& how) const {
    return access_->gather(view_, cells, to, how);
  }
  ConversionErrors scatter(const BlockCells& cells, const std::byte* from, const CellConversion& how) const {
    return access_->scatter(view_, cells, from, how);
  }
  ConversionErrors gather(const MapCells& cells, std::byte* to, const CellConversion& how) const {
    return access_->gather(view_, cells, to, how);
  }
  ConversionErrors scatter(const MapCells& cells, const std::byte* from, const CellConversion& how) const {
    return access_->scatter(view_, cells, from, how);
  }
  /// All cells as they are, which lie elsewhere with the strides.
  void copy_to(std::byte* to, const Dims& strides) const;
  void copy_from(const std::byte* from, const Dims& strides) const;

 private:
  friend class HostArray;
  ArrayView view_;
  std::shared_ptr<CellAccess> access_;
};

/// An array where the host can read and write it: itself, or a copy. For what is no field that goes part by
/// part: replicated values, coordinates, masks, single cells.
class HostArray {
 public:
  enum class Copy { fetched, empty };  ///< of an array that lies elsewhere

  explicit HostArray(const CellArray& array, Copy copy = Copy::fetched);
  const ArrayView& view() const { return view_; }
  /// Brings what was changed to the array.
  void store() const;

 private:
  CellArray array_;
  Bytes copy_;
  ArrayView view_;
};

}  // namespace shoal
