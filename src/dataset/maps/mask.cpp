// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/maps/mask.hpp"

#include <fmt/core.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/language.hpp"
#include "codec/convert.hpp"

namespace shoal {

namespace {

// The cells of this rank in an array that has them with or without halo.
ArrayView own_part(const Decomposition& decomposition, const ArrayView& array) {
  const bool is_map = decomposition.map() != nullptr;
  const int n = array.extents.size();
  const Dims own = is_map ? Dims{decomposition.map()->local_cells()} : decomposition.tile().count;
  const Dims with_halo = is_map ? own : decomposition.tile_with_halo().count;
  if (n < 1 || n > own.size())
    throw Error(Code::invalid_argument, "the mask has {} dimensions; the decomposition has {}", n,
                is_map ? "a list of cells, whose mask has 1"
                       : fmt::format("{}, and a mask one or more, {} of these", own.size(),
                                     language() == Language::fortran ? "the first" : "the last"));
  const Dims plain = tail(own, n);
  const Dims around = tail(with_halo, n);
  if (array.extents == plain) return array;
  if (!(array.extents == around)) {
    std::string allowed = text_of(plain);
    if (!(plain == around)) allowed += fmt::format(" (the tile) or {} (with its halo)", text_of(around));
    throw Error(Code::invalid_argument, "the mask has the extents {}; expected {} on this rank",
                text_of(array.extents), allowed);
  }
  return array.part({tail(decomposition.halo_low(), n), plain});
}

}  // namespace

CellMask mask_of(const Decomposition& decomposition, const ArrayView& array) {
  if (decomposition.tile().empty()) return {};
  const ArrayView cells = own_part(decomposition, array);
  CellMask mask(cells.extents);
  if (mask.cells() == 0) return mask;
  if (cells.data == nullptr) throw Error(Code::invalid_argument, "the mask's data is NULL");
  const int last = cells.extents.size() - 1;
  const std::int64_t row = cells.extents[last];
  // Numbers that are not whole would all be land as integers, and NaN is neither land nor water.
  const bool real = cells.type == Type::float_ || cells.type == Type::double_;
  const Element element{cells.type, cells.element_size, false};
  const ConvertRun convert =
      find_conversion(element, real ? Element{Type::double_, 8, false} : Element{Type::logical, 1, false});
  std::vector<double> numbers(real ? static_cast<std::size_t>(row) : 0);
  std::vector<std::byte> flags(real ? 0 : static_cast<std::size_t>(row));
  Dims rows = cells.extents;
  rows[last] = 1;
  for (std::int64_t first = 0; first < mask.cells(); first += row) {
    const Dims index = unravel(first / row, rows);
    const std::byte* from = cells.data;
    for (int d = 0; d < last; ++d)
      from += index[d] * cells.strides[d];
    auto* to = real ? reinterpret_cast<std::byte*>(numbers.data()) : flags.data();
    const ConversionErrors conversion_errors =
        convert(from, cells.strides[last], to, real ? 8 : 1, row, nullptr);
    if (conversion_errors.count > 0)
      throw Error(Code::type, "the mask has text that is neither true nor false; give integers or logicals");
    for (std::int64_t i = 0; i < row; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (real && std::isnan(numbers[at])) {
        Dims where = index;
        where[last] = i;
        throw Error(
            Code::invalid_argument,
            "the mask is NaN at [{}] of this rank's cells ({}); give 0 for land and another number for "
            "water",
            index_text(where), counted_from());
      }
      if (real ? numbers[at] == 0 : flags[at] == std::byte{0}) mask.set_masked(first + i);
    }
  }
  return mask;
}

}  // namespace shoal
