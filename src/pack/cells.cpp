// SPDX-License-Identifier: BSD-3-Clause
#include "pack/cells.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdio>

#include "base/language.hpp"
#include "pack/map_cells.hpp"
#include "pack/mask_rows.hpp"

namespace shoal {

namespace {

std::string value_text(const CellArray& array, const Dims& index) {
  double value = 0;
  const Status known = caught([&] {
    const Element number{Type::double_, sizeof value, false};
    const Box cell(index, Dims(index.size(), 1));
    array.gather(BlockCells{cell, byte_strides(cell.count, sizeof value)},
                 reinterpret_cast<std::byte*>(&value), {find_conversion(array.element(), number), nullptr});
  });
  if (!known.ok()) return "the value";
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.17g", value);
  return std::string("the value ") + text.data();
}

/// The part of the cells of a call, as its array has it.
BlockCells block_cells(const Transfer& transfer, const Box& part, const Dims& strides) {
  BlockCells out{part, strides};
  for (int d = 0; d < part.rank(); ++d)
    out.box.first[d] -= transfer.mine.first[d];
  return out;
}

/// mask: of the cells of `of`, in its last dimensions.
void set_mask(BlockCells& cells, const CellMask& mask, const Box& part, const Box& of) {
  cells.mask = &mask;
  cells.in_mask = tail(part.first, mask.shape().size());
  const Dims origin = tail(of.first, mask.shape().size());
  for (int d = 0; d < origin.size(); ++d)
    cells.in_mask[d] -= origin[d];
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
  for (int d = 0; d < part.rank(); ++d)
    to += (part.first[d] - cells.first[d]) * strides[d];
  BlockCells box = block_cells(transfer, part, strides);
  if (is_masked(transfer))
    set_mask(box, *transfer.decomposition->mask(), part, transfer.decomposition->tile());
  return transfer.array.gather(box, to, {convert, substitute, transfer.fill_cells});
}

ConversionErrors unpack_cells(const Transfer& transfer, const std::byte* from, const Dims& strides,
                              const Box& cells, ConvertRun convert) {
  if (is_mapped(transfer))
    return unpack_map_cells(transfer, cells, from, static_cast<std::size_t>(strides[strides.size() - 1]),
                            convert);
  const Box& mine = transfer.mine;
  const Box part = intersection(cells, mine);
  if (part.empty()) return {};
  for (int d = 0; d < part.rank(); ++d)
    from += (part.first[d] - cells.first[d]) * strides[d];
  BlockCells box = block_cells(transfer, part, strides);
  if (leaves_masked(transfer))
    set_mask(box, *transfer.decomposition->mask_with_halo(), part, transfer.decomposition->tile_with_halo());
  ConversionErrors conversion_errors =
      transfer.array.scatter(box, from, {convert, substitute_for(transfer.array.type())});
  if (conversion_errors.count > 0) {
    Dims index = unravel(conversion_errors.first, part.count);
    for (int d = 0; d < part.rank(); ++d)
      index[d] += part.first[d];
    conversion_errors.first = position_in(index, mine);
  }
  return conversion_errors;
}

void fill_left(const Transfer& transfer, const std::byte* value) {
  if (!transfer.array.has_cells() || transfer.mine.empty()) return;
  if (is_mapped(transfer)) return fill_left_of_map(transfer, value);
  if (!leaves_masked(transfer)) return;
  BlockCells land = block_cells(transfer, transfer.mine, {});
  set_mask(land, *transfer.decomposition->mask_with_halo(), transfer.mine,
           transfer.decomposition->tile_with_halo());
  const HostArray on_host(transfer.array);
  const ArrayView& array = on_host.view();
  const int last = land.box.rank() - 1;
  for_each_row(*land.mask, land.in_mask, land.box.count, [&](const Dims& index, std::int64_t cell) {
    std::byte* const row = at_index(array.data, array.strides, index);
    land.mask->for_each_run(cell, land.box.count[last],
                            [&](std::int64_t first, std::int64_t n, bool is_land) {
                              if (is_land)
                                fill_box(row + (first - cell) * array.strides[last], {array.strides[last]},
                                         {n}, value, array.element_size);
                            });
  });
  on_host.store();
}

Status unfitting(const Transfer& transfer, const VariableDef& variable, std::int64_t count, Dims global,
                 const Dims& in_array, bool writing) {
  for (int d = 0; d < transfer.origin.size(); ++d)
    global[d] += transfer.origin[d];
  const std::string value = writing ? value_text(transfer.array, in_array) : "the file's value";
  const std::string target = writing ? name_of(variable.type) : name_of(transfer.array.type());
  std::string message = fmt::format("{} at index [{}] ({}) does not fit type {}", value, index_text(global),
                                    counted_from(), target);
  if (count > 1) message += fmt::format(", nor do {} more", count - 1);
  message +=
      writing ? "; the fill value was written there, everything else as it is" : "; everything else was read";
  return {Code::range, message, -1, {}, variable.name};
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
  return unfitting(transfer, variable, conversion_errors.count, global, local, writing);
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

}  // namespace shoal
