// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "codec/convert.hpp"
#include "decomp/decomposition.hpp"
#include "format/schema.hpp"
#include "pack/cell_array.hpp"

namespace shoal {

/// The cells of this rank's boxes in one record of a field, as write and read take them: the array of the one
/// box, or of all where they lie so; or a copy of all, one box after another along the dimension that lists
/// the cells of a map.
class BoxArrays {
 public:
  /// boxes: their arrays of the record. section, cut: of the field. The variable outlives this.
  BoxArrays(const VariableDef& variable, std::vector<CellArray> boxes, const Box& section,
            const Decomposition& cut);

  const CellArray& array() const { return array_; }
  /// Brings the boxes to the copy, where there is one.
  void gather(ConversionErrors& errors);
  /// Brings the copy to the boxes, where there is one.
  void scatter(ConversionErrors& errors);

 private:
  template <class Work>
  void for_each_copied(std::byte* copy, Work&& work) const;
  bool lie_as_copied() const;

  const VariableDef& variable_;
  std::vector<CellArray> boxes_;
  int lead_;  // dimensions before those that are cut
  Dims shape_;
  std::int64_t inner_ = 1;  // cells of the dimensions that a map does not cut
  Element element_;
  Bytes copy_;
  CellArray array_;
};

}  // namespace shoal
