// SPDX-License-Identifier: BSD-3-Clause
#include "pack/map_cells.hpp"

#include <cstring>

#include "format/placement.hpp"
#include "pack/stored_elements.hpp"

namespace shoal {

namespace {

/// Calls visit(part, values of the box before it) for parts that are the cells of the box together.
template <class Visit>
void for_each_mapped_part(const Decomposition& decomposition, const Box& cells, Visit&& visit) {
  const int outer_dims = cells.rank() - decomposition.rank();
  const Dims shape = decomposition.mapped_shape();
  const auto dims_of = [&](int first, int n) {
    return Box(Dims(std::span(cells.first.begin() + first, cells.first.begin() + first + n)),
               Dims(std::span(cells.count.begin() + first, cells.count.begin() + first + n)));
  };
  MappedPart part;
  part.outer = dims_of(0, outer_dims);
  part.inner = dims_of(outer_dims + shape.size(), decomposition.uncut_dims());
  const Box mapped = dims_of(outer_dims, shape.size());
  // Rows have a step from one to the next as long as only one dimension is not whole.
  int last_cut = shape.size() - 1;
  while (last_cut > 0 && mapped.count[last_cut] == shape[last_cut])
    --last_cut;
  Box prefix = Box::whole(Dims(shape.size(), 1));
  for (int d = 0; d < last_cut; ++d)
    if (mapped.count[d] != shape[d])
      for (int i = 0; i < last_cut; ++i) {
        prefix.first[i] = mapped.first[i];
        prefix.count[i] = mapped.count[i];
      }
  const bool split = prefix.cells() > 1 || !(prefix.first == Dims(shape.size()));
  std::int64_t before = 0;
  for_each_index(prefix, [&](const Dims& index) {
    Box box = mapped;
    for (int d = 0; split && d < last_cut; ++d) {
      box.first[d] = index[d];
      box.count[d] = 1;
    }
    part.rows = MappedRows::of(box, shape);
    part.end = part.rows.cells();
    visit(part, before * part.inner.cells());
    before += box.cells();
  });
}

std::int64_t mapped_cells_of(const Decomposition& decomposition, const Box& cells) {
  std::int64_t n = 1;
  const int outer_dims = cells.rank() - decomposition.rank();
  for (int d = outer_dims; d < cells.rank() - decomposition.uncut_dims(); ++d)
    n *= cells.count[d];
  return n;
}

/// As the array has the part.
MapCells cells_of(const Transfer& transfer, const MappedPart& part, std::size_t size,
                  std::int64_t lead_cells) {
  const Decomposition& decomposition = *transfer.decomposition;
  const IndexMap& map = *decomposition.map();
  const auto in_region = [&](const Box& box, int from) {
    Dims first;
    for (int d = 0; d < box.rank(); ++d)
      first.push_back(box.first[d] - transfer.region.first[from + d]);
    return first;
  };
  const int inner_first = transfer.region.rank() - part.inner.rank();
  Box box(joined(joined(in_region(part.outer, 0), {0}), in_region(part.inner, inner_first)),
          joined(joined(part.outer.count, {map.local_cells()}), part.inner.count));
  return {map, decomposition.mask(), part, box, size, lead_cells};
}

CellConversion packing(const Transfer& transfer, ConvertRun convert, const std::byte* substitute) {
  return {convert, substitute, transfer.fill_cells};
}
CellConversion unpacking(const Transfer& transfer, ConvertRun convert) {
  return {convert, substitute_for(transfer.array.type())};
}

/// Calls move(cells of the array, elements of the box before them) for the parts that the box has.
template <class Move>
ConversionErrors for_map_cells(const Transfer& transfer, const Box& cells, std::size_t size, Move&& move) {
  ConversionErrors conversion_errors;
  const Decomposition& decomposition = *transfer.decomposition;
  if (!transfer.array.has_cells() || decomposition.map()->empty()) return conversion_errors;
  const std::int64_t lead_cells = mapped_cells_of(decomposition, cells);
  for_each_mapped_part(decomposition, cells, [&](const MappedPart& part, std::int64_t before) {
    conversion_errors.merge(
        move(cells_of(transfer, part, size, lead_cells), before * static_cast<std::int64_t>(size)), 0);
  });
  return conversion_errors;
}

}  // namespace

ConversionErrors pack_map_cells(const Transfer& transfer, const Box& cells, std::byte* to, std::size_t size,
                                ConvertRun convert, const std::byte* substitute) {
  return for_map_cells(transfer, cells, size, [&](const MapCells& part, std::int64_t before) {
    return transfer.array.gather(part, to + before, packing(transfer, convert, substitute));
  });
}

ConversionErrors unpack_map_cells(const Transfer& transfer, const Box& cells, const std::byte* from,
                                  std::size_t size, ConvertRun convert) {
  return for_map_cells(transfer, cells, size, [&](const MapCells& part, std::int64_t before) {
    return transfer.array.scatter(part, from + before, unpacking(transfer, convert));
  });
}

void fill_left_of_map(const Transfer& transfer, const std::byte* value) {
  const Decomposition& decomposition = *transfer.decomposition;
  const IndexMap& map = *decomposition.map();
  if (decomposition.mask() == nullptr && map.mapped_cells() == map.local_cells()) return;
  Numbered<bool> active(map.local_cells());
  map.for_each_run(0, volume(decomposition.mapped_shape()), [&](const IndexMap::Run& run) {
    for (std::int64_t i = run.local; i < run.local + run.length; ++i)
      active[i] = decomposition.mask() == nullptr || !decomposition.mask()->is_masked(i);
  });
  std::vector<std::int64_t> left;
  for (std::int64_t cell = 0; cell < map.local_cells(); ++cell)
    if (!active[cell]) left.push_back(cell);
  fill_list_cells(transfer, left, value);
}

void fill_list_cells(const Transfer& transfer, const std::vector<std::int64_t>& cells,
                     const std::byte* value) {
  const HostArray on_host(transfer.array);
  const ArrayView& array = on_host.view();
  const int list = array.extents.size() - 1 - transfer.decomposition->uncut_dims();
  Dims around = array.extents;  // all but the dimension of the list
  around[list] = 1;
  for (std::int64_t i = 0; i < volume(around); ++i) {
    const Dims index = unravel(i, around);
    std::byte* at = array.data;
    for (int d = 0; d < index.size(); ++d)
      at += index[d] * array.strides[d];
    for (const auto cell : cells)
      std::memcpy(at + cell * array.strides[list], value, array.element_size);
  }
  on_host.store();
}

void fill_map_cells(const Decomposition& decomposition, const IndexMap& map, const Box& cells, std::byte* to,
                    const Bytes& fill) {
  if (map.empty()) return;
  const auto size = static_cast<std::int64_t>(fill.size());
  const std::int64_t lead_cells = mapped_cells_of(decomposition, cells);
  for_each_mapped_part(decomposition, cells, [&](const MappedPart& part, std::int64_t before) {
    const std::int64_t item = part.inner.cells();
    const std::int64_t outer_dims = part.outer.cells();
    part.rows.for_each_run(map, part.low, part.end, [&](const IndexMap::Run& run, std::int64_t position) {
      for (std::int64_t lead = 0; lead < outer_dims; ++lead)
        fill_box(to + (before + (lead * lead_cells + position) * item) * size, {size}, {run.length * item},
                 fill.data(), fill.size());
    });
  });
}

ConversionErrors pack_mapped(const Transfer& transfer, const MappedPart& part, const Element& message,
                             std::byte* to, const std::byte* substitute) {
  if (transfer.decomposition->map()->empty()) return {};
  return transfer.array.gather(cells_of(transfer, part, message.size, 0), to,
                               packing(transfer, to_stored(transfer, message), substitute));
}

ConversionErrors unpack_mapped(const Transfer& transfer, const MappedPart& part, const Element& message,
                               const std::byte* from) {
  if (transfer.decomposition->map()->empty()) return {};
  return transfer.array.scatter(cells_of(transfer, part, message.size, 0), from,
                                unpacking(transfer, find_conversion(message, in_memory(transfer))));
}

Status mapped_conversion_status(const Transfer& transfer, const VariableDef& variable,
                                const ConversionErrors& conversion_errors, bool writing) {
  const Dims local = unravel(conversion_errors.first, transfer.array.extents());
  const Decomposition& decomposition = *transfer.decomposition;
  const int outer_dims = transfer.region.rank() - decomposition.rank();
  std::int64_t cell = 0;
  const Dims mapped = decomposition.mapped_shape();
  decomposition.map()->for_each_run(0, volume(mapped), [&](const IndexMap::Run& run) {
    if (run.local <= local[outer_dims] && local[outer_dims] < run.local + run.length)
      cell = run.global + local[outer_dims] - run.local;
  });
  Dims global;
  for (int d = 0; d < outer_dims; ++d)
    global.push_back(transfer.region.first[d] + local[d]);
  for (const auto i : unravel(cell, mapped))
    global.push_back(i);
  for (int d = outer_dims + 1; d < local.size(); ++d)
    global.push_back(local[d] + transfer.region.first[global.size()]);
  return unfitting(transfer, variable, conversion_errors.count, global, local, writing);
}

}  // namespace shoal
