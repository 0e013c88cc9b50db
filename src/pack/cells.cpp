// SPDX-License-Identifier: BSD-3-Clause
#include "pack/cells.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "base/language.hpp"
#include "pack/map_cells.hpp"

namespace shoal {

namespace {

std::string value_text(const ArrayView& array, const Dims& index) {
  const std::byte* at = array.data;
  if (at == nullptr) return "the value";  // of a source: not here any more
  for (int d = 0; d < index.size(); ++d)
    at += index[d] * array.strides[d];
  double value = 0;
  const Element from{array.type, array.element_size, false};
  find_conversion(from, {Type::double_, sizeof value, false})(at, 0, reinterpret_cast<std::byte*>(&value), 0,
                                                              1, reinterpret_cast<const std::byte*>(&value));
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.17g", value);
  return std::string("the value ") + text.data();
}

/// Calls visit(index of its first cell in the part, cell of the mask, cells) for each row of a part of a
/// block. origin: of the mask, in the last dimensions of the block.
template <class Visit>
void for_each_row(const CellMask& mask, const Dims& origin, const Box& part, Visit&& visit) {
  const int last = part.rank() - 1;
  const int unmasked = part.rank() - mask.shape().size();
  const Dims in_mask = row_major_strides(mask.shape());
  std::int64_t cell = 0;
  for (int d = unmasked; d <= last; ++d)
    cell += (part.first[d] - origin[d - unmasked]) * in_mask[d - unmasked];
  Dims index(part.rank());
  while (true) {
    visit(index, cell);
    int d = last - 1;
    for (; d >= 0; --d) {
      const std::int64_t step = d < unmasked ? 0 : in_mask[d - unmasked];
      cell += step;
      if (++index[d] < part.count[d]) break;
      cell -= part.count[d] * step;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

template <class Byte>
Byte* at_index(Byte* at, const Dims& strides, const Dims& index) {
  for (int d = 0; d < index.size(); ++d)
    at += index[d] * strides[d];
  return at;
}

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

/// copy_box of a part of a block's field, row by row; of land cells nothing is looked at, but at_masked(where
/// they are copied to, cells) called; and moved(where water was copied to, cells, errors) after each run of
/// it. origin: of the mask.
template <class AtMasked, class Moved>
ConversionErrors copy_masked(const CellMask& mask, const Dims& origin, const Box& part, const std::byte* from,
                             const Dims& from_strides, std::byte* to, const Dims& to_strides,
                             ConvertRun convert, const std::byte* substitute, AtMasked&& at_masked,
                             Moved&& moved) {
  const int last = part.rank() - 1;
  const std::int64_t row = part.count[last];
  std::int64_t position = 0;
  ConversionErrors conversion_errors;
  for_each_row(mask, origin, part, [&](const Dims& index, std::int64_t cell) {
    const std::byte* const from_row = at_index(from, from_strides, index);
    std::byte* const to_row = at_index(to, to_strides, index);
    mask.for_each_run(cell, row, [&](std::int64_t first, std::int64_t n, bool is_masked) {
      const std::int64_t i = first - cell;
      std::byte* const at = to_row + i * to_strides[last];
      if (is_masked) return at_masked(at, n);
      const ConversionErrors errors =
          convert(from_row + i * from_strides[last], from_strides[last], at, to_strides[last], n, substitute);
      moved(at, n, errors);
      conversion_errors.merge(errors, position + i);
    });
    position += row;
  });
  return conversion_errors;
}

/// Where the mask of a block begins: of its tile, and of the tile with its halo.
Dims origin_of(const CellMask& mask, const Box& box) {
  return tail(box.first, mask.shape().size());
}

/// n elements from a place on, one value in all of them.
void put_all(std::byte* at, std::int64_t stride, std::int64_t n, const std::byte* value, std::size_t size) {
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(at + i * stride, value, size);
}

}  // namespace

Bytes stored_fill(const VariableDef& variable, bool swapped) {
  Bytes fill = fill_of(variable);
  if (swapped) swap_bytes(fill.data(), fill.size(), 1);
  return fill;
}

const std::byte* substitute_for(Type type) {
  static constexpr std::array<std::byte, 8> k_false{};
  return type == Type::logical ? k_false.data() : static_cast<const std::byte*>(default_fill(type));
}

bool is_masked(const Transfer& transfer) {
  return transfer.decomposition && transfer.decomposition->mask() != nullptr;
}

bool leaves_masked(const Transfer& transfer) {
  return transfer.decomposition && transfer.decomposition->mask_with_halo() != nullptr;
}

Box own_cells(const Transfer& transfer) {
  const Box nothing(Dims(transfer.region.rank()), Dims(transfer.region.rank()));
  if (!transfer.decomposition || transfer.decomposition->tile().empty()) return nothing;
  if (transfer.variable < 0) return nothing;  // the region is not known
  return within_region({transfer.decomposition->tile()}, transfer.region).front();
}

std::vector<Box> within_region(const std::vector<Box>& boxes, const Box& region) {
  std::vector<Box> out;
  for (const auto& box : boxes) {
    Box full = region;
    const int lead = region.rank() - box.rank();
    for (int d = 0; d < box.rank(); ++d) {
      full.first[lead + d] = box.first[d];
      full.count[lead + d] = box.count[d];
    }
    out.push_back(intersection(full, region));
  }
  return out;
}

Dims byte_strides(const Dims& shape, std::size_t element_size) {
  Dims strides = row_major_strides(shape);
  for (auto& stride : strides)
    stride *= static_cast<std::int64_t>(element_size);
  return strides;
}

ConversionErrors pack_cells(const Transfer& transfer, const Box& cells, std::byte* to, const Dims& strides,
                            ConvertRun convert, const std::byte* substitute) {
  if (is_mapped(transfer))
    return pack_map_cells(transfer, cells, to, static_cast<std::size_t>(strides[strides.size() - 1]), convert,
                          substitute);
  const Box part = intersection(cells, transfer.mine);
  if (part.empty()) return {};
  Box local = part;
  for (int d = 0; d < part.rank(); ++d) {
    local.first[d] -= transfer.mine.first[d];
    to += (part.first[d] - cells.first[d]) * strides[d];
  }
  ArrayView from = transfer.array;
  if (transfer.source) {
    from.data = const_cast<std::byte*>(transfer.source(part));
    from.strides = byte_strides(part.count, from.element_size);
  } else {
    from = from.part(local);
  }
  if (is_masked(transfer)) {
    const CellMask& mask = *transfer.decomposition->mask();
    const std::int64_t step = strides[strides.size() - 1];
    const auto size = static_cast<std::size_t>(step);
    return copy_masked(
        mask, origin_of(mask, transfer.decomposition->tile()), part, from.data, from.strides, to, strides,
        convert, substitute,
        [&](std::byte* at, std::int64_t n) { fill_box(at, {step}, {n}, substitute, size); },
        [&](const std::byte* at, std::int64_t n, const ConversionErrors& errors) {
          if (transfer.fill_cells != nullptr)
            *transfer.fill_cells += count_equal(at, step, n, substitute, size) - errors.count;
        });
  }
  return copy_box(from.data, from.strides, to, strides, part.count, convert, substitute);
}

ConversionErrors unpack_cells(const Transfer& transfer, const std::byte* from, const Dims& strides,
                              const Box& cells, ConvertRun convert) {
  if (is_mapped(transfer))
    return unpack_map_cells(transfer, cells, from, static_cast<std::size_t>(strides[strides.size() - 1]),
                            convert);
  const Box& mine = transfer.mine;
  const Box part = intersection(cells, mine);
  if (part.empty()) return {};
  Box local = part;
  for (int d = 0; d < part.rank(); ++d) {
    local.first[d] -= mine.first[d];
    from += (part.first[d] - cells.first[d]) * strides[d];
  }
  const ArrayView to = transfer.array.part(local);
  const std::byte* const substitute = substitute_for(transfer.array.type);
  ConversionErrors conversion_errors;
  if (leaves_masked(transfer)) {
    const CellMask& mask = *transfer.decomposition->mask_with_halo();
    conversion_errors = copy_masked(
        mask, origin_of(mask, transfer.decomposition->tile_with_halo()), part, from, strides, to.data,
        to.strides, convert, substitute, [](std::byte*, std::int64_t) {},
        [](const std::byte*, std::int64_t, const ConversionErrors&) {});
  } else {
    conversion_errors = copy_box(from, strides, to.data, to.strides, part.count, convert, substitute);
  }
  if (conversion_errors.count > 0) {
    Dims index = unravel(conversion_errors.first, part.count);
    for (int d = 0; d < part.rank(); ++d)
      index[d] += part.first[d];
    conversion_errors.first = position_in(index, mine);
  }
  return conversion_errors;
}

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

void fill_left(const Transfer& transfer, const std::byte* value) {
  if (transfer.array.data == nullptr || transfer.mine.empty()) return;
  if (is_mapped(transfer)) return fill_left_of_map(transfer, value);
  if (!leaves_masked(transfer)) return;
  const CellMask& mask = *transfer.decomposition->mask_with_halo();
  const ArrayView& array = transfer.array;
  const int last = transfer.mine.rank() - 1;
  const Dims origin = origin_of(mask, transfer.decomposition->tile_with_halo());
  for_each_row(mask, origin, transfer.mine, [&](const Dims& index, std::int64_t cell) {
    std::byte* const row = at_index(array.data, array.strides, index);
    mask.for_each_run(cell, transfer.mine.count[last], [&](std::int64_t first, std::int64_t n, bool land) {
      if (land)
        put_all(row + (first - cell) * array.strides[last], array.strides[last], n, value,
                array.element_size);
    });
  });
}

Status conversion_status(const Transfer& transfer, const VariableDef& variable,
                         const ConversionErrors& conversion_errors, const Box& cells, bool writing) {
  if (is_mapped(transfer)) return mapped_conversion_status(transfer, variable, conversion_errors, writing);
  const Dims in_cells = unravel(conversion_errors.first, cells.count);
  Dims global(cells.rank());
  Dims local(cells.rank());
  for (int d = 0; d < cells.rank(); ++d) {
    global[d] = cells.first[d] + in_cells[d];
    local[d] = global[d] - transfer.mine.first[d];
  }
  for (int d = 0; d < transfer.origin.size(); ++d)
    global[d] += transfer.origin[d];
  const std::string value = writing ? value_text(transfer.array, local) : "the file's value";
  const std::string target = writing ? name_of(variable.type) : name_of(transfer.array.type);
  std::string message = fmt::format("{} at index [{}] ({}) does not fit type {}", value, index_text(global),
                                    counted_from(), target);
  if (conversion_errors.count > 1) message += fmt::format(", nor do {} more", conversion_errors.count - 1);
  message +=
      writing ? "; the fill value was written there, everything else as it is" : "; everything else was read";
  return {Code::range, message, -1, {}, variable.name};
}

bool loses_bytes(const Status& status) {
  switch (status.code) {
    case Code::ok:
    case Code::invalid_argument:
    case Code::not_found:
    case Code::range:
    case Code::type:
    case Code::not_supported:
    case Code::state:
      return false;
    default:
      return true;
  }
}

bool is_contiguous(const ArrayView& array, Type type) {
  if (array.data == nullptr || array.type != type || array.element_size != size_of(type)) return false;
  const Dims strides = byte_strides(array.extents, array.element_size);
  for (int d = 0; d < strides.size(); ++d)
    if (array.extents[d] > 1 && array.strides[d] != strides[d]) return false;
  return true;
}

}  // namespace shoal
