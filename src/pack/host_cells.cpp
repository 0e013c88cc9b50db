// SPDX-License-Identifier: BSD-3-Clause
// Boxes of cells in the host's memory; those of maps: host_map_cells.cpp.
#include <cstring>

#include "pack/cells.hpp"
#include "pack/mask_rows.hpp"

namespace shoal {

namespace {

template <class Number>
std::int64_t count_numbers(const std::byte* at, std::int64_t stride, std::int64_t n, const std::byte* value) {
  Number wanted{};
  std::memcpy(&wanted, value, sizeof wanted);
  std::int64_t count = 0;
  const auto count_all = [&](std::int64_t step) {
    for (std::int64_t i = 0; i < n; ++i) {
      Number number{};
      std::memcpy(&number, at + i * step, sizeof number);
      count += number == wanted ? 1 : 0;
    }
  };
  if (stride == sizeof(Number))
    count_all(sizeof(Number));
  else
    count_all(stride);
  return count;
}

/// copy_box of cells with a mask, row by row; of land nothing is looked at, but at_masked(where it is copied
/// to, cells) called; and moved(where water was copied to, cells, errors) after each run of it.
template <class AtMasked, class Moved>
ConversionErrors copy_masked(const BlockCells& cells, const std::byte* from, const Dims& from_strides,
                             std::byte* to, const Dims& to_strides, const CellConversion& how,
                             AtMasked&& at_masked, Moved&& moved) {
  const int last = cells.box.rank() - 1;
  const std::int64_t row = cells.box.count[last];
  std::int64_t position = 0;
  ConversionErrors conversion_errors;
  for_each_row(*cells.mask, cells.in_mask, cells.box.count, [&](const Dims& index, std::int64_t cell) {
    const std::byte* const from_row = at_index(from, from_strides, index);
    std::byte* const to_row = at_index(to, to_strides, index);
    cells.mask->for_each_run(cell, row, [&](std::int64_t first, std::int64_t n, bool is_masked) {
      const std::int64_t i = first - cell;
      std::byte* const at = to_row + i * to_strides[last];
      if (is_masked) return at_masked(at, n);
      const ConversionErrors errors = how.convert(from_row + i * from_strides[last], from_strides[last], at,
                                                  to_strides[last], n, how.substitute);
      moved(at, n, errors);
      conversion_errors.merge(errors, position + i);
    });
    position += row;
  });
  return conversion_errors;
}

ConvertRun unchanged(const ArrayView& array) {
  const Element element{array.type, array.element_size, false};
  return find_conversion(element, element);
}

}  // namespace

std::int64_t count_equal(const std::byte* at, std::int64_t stride, std::int64_t n, const std::byte* value,
                         std::size_t size) {
  switch (size) {
    case 1:
      return count_numbers<std::uint8_t>(at, stride, n, value);
    case 2:
      return count_numbers<std::uint16_t>(at, stride, n, value);
    case 4:
      return count_numbers<std::uint32_t>(at, stride, n, value);
    default:
      return count_numbers<std::uint64_t>(at, stride, n, value);
  }
}

std::shared_ptr<CellAccess> HostCells::shared() {
  static HostCells cells;
  return {std::shared_ptr<void>(), &cells};
}

void HostCells::fetch(const ArrayView& array, const Box& box, std::byte* to) {
  const ArrayView from = array.part(box);
  copy_box(from.data, from.strides, to, byte_strides(box.count, array.element_size), box.count,
           unchanged(array), nullptr);
}

void HostCells::store(const ArrayView& array, const Box& box, const std::byte* from) {
  const ArrayView to = array.part(box);
  copy_box(from, byte_strides(box.count, array.element_size), to.data, to.strides, box.count,
           unchanged(array), nullptr);
}

ConversionErrors HostCells::gather(const ArrayView& array, const BlockCells& cells, std::byte* to,
                                   const CellConversion& how) {
  const ArrayView from = array.part(cells.box);
  if (cells.mask == nullptr)
    return copy_box(from.data, from.strides, to, cells.strides, from.extents, how.convert, how.substitute);
  const std::int64_t step = cells.strides[cells.strides.size() - 1];
  const auto size = static_cast<std::size_t>(step);
  return copy_masked(
      cells, from.data, from.strides, to, cells.strides, how,
      [&](std::byte* at, std::int64_t n) { fill_box(at, {step}, {n}, how.substitute, size); },
      [&](const std::byte* at, std::int64_t n, const ConversionErrors& errors) {
        if (how.fill_cells != nullptr)
          *how.fill_cells += count_equal(at, step, n, how.substitute, size) - errors.count;
      });
}

ConversionErrors HostCells::scatter(const ArrayView& array, const BlockCells& cells, const std::byte* from,
                                    const CellConversion& how) {
  const ArrayView to = array.part(cells.box);
  if (cells.mask == nullptr)
    return copy_box(from, cells.strides, to.data, to.strides, to.extents, how.convert, how.substitute);
  return copy_masked(
      cells, from, cells.strides, to.data, to.strides, how, [](std::byte*, std::int64_t) {},
      [](const std::byte*, std::int64_t, const ConversionErrors&) {});
}

}  // namespace shoal
