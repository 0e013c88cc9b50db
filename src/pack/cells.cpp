// SPDX-License-Identifier: BSD-3-Clause
#include "pack/cells.hpp"

#include "pack/map_cells.hpp"
#include "pack/mask_rows.hpp"

namespace shoal {

namespace {

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

}  // namespace shoal
