// SPDX-License-Identifier: BSD-3-Clause
#include "rearrange/tile_maps.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "codec/convert.hpp"
#include "pack/cells.hpp"

namespace shoal {

namespace {

CutDims cut_dims(const Decomposition& block) {
  Dims cut;
  for (int d = 0; d < block.rank(); ++d)
    cut.push_back(block.is_cut(d) ? 1 : 0);
  return cut_dims_of(cut);
}

// Where a dimension of the block lies in a region.
int in_region(const Transfer& transfer, int d) {
  return transfer.region.rank() - transfer.decomposition->rank() + d;
}

}  // namespace

CutDims cut_dims_of(const Dims& cut) {
  CutDims dims{cut.size(), 0};
  for (int d = 0; d < cut.size(); ++d)
    if (cut[d] != 0) dims = {std::min(dims.first, d), d};
  return dims.first < cut.size() ? dims : CutDims{};
}

std::vector<std::int64_t> map_cells_of(const Box& box, const Dims& global, const CutDims& dims) {
  std::vector<std::int64_t> cells;
  if (box.empty()) return cells;
  Box part;
  Dims shape;
  for (int d = dims.first; d <= dims.last; ++d) {
    part.first.push_back(box.first[d]);
    part.count.push_back(box.count[d]);
    shape.push_back(global[d]);
  }
  const std::int64_t row = part.count[part.rank() - 1];
  cells.reserve(static_cast<std::size_t>(part.cells()));
  for (std::int64_t at = 0; at < part.cells(); at += row) {
    Dims index = unravel(at, part.count);
    for (int d = 0; d < index.size(); ++d)
      index[d] += part.first[d];
    const std::int64_t first = position_in(index, Box::whole(shape));
    for (std::int64_t i = 0; i < row; ++i)
      cells.push_back(first + i);
  }
  return cells;
}

std::shared_ptr<const Decomposition> map_of_tiles(const Comm& comm, const Decomposition& block, bool halo) {
  const Box box = halo ? intersection(block.tile_with_halo(), Box::whole(block.global())) : block.tile();
  const CutDims dims = cut_dims(block);
  std::vector<std::int64_t> cells;
  const Status problem = caught([&] { cells = map_cells_of(box, block.global(), dims); });
  return Decomposition::map(comm, tail(block.global(), block.rank() - dims.first),
                            block.rank() - 1 - dims.last, cells, problem);
}

Status check_section(const Transfer& transfer) {
  const Decomposition& block = *transfer.decomposition;
  const CutDims dims = cut_dims(block);
  for (int d = dims.first; d <= dims.last; ++d)
    if (transfer.region.count[in_region(transfer, d)] != block.global()[d])
      return {Code::not_supported,
              fmt::format("a section of {} of the {} cells of dimension {} of the decomposition cannot go "
                          "through I/O ranks, as dimensions before and behind it are cut; move the whole of "
                          "it, or let every node store (leave out io_ranks, io_ranks_per_node, io_stride and "
                          "io_base; on NFS cells must go through them)",
                          transfer.region.count[in_region(transfer, d)], block.global()[d], d)};
  return {};
}

bool one_rank_has_all(const Comm& comm, const Decomposition& block) {
  if (block.map() != nullptr) return false;
  if (comm.size() == 1) return true;
  for (int d = 0; d < block.rank(); ++d)
    if (block.is_cut(d)) return false;
  return true;
}

Box tile_box(const Transfer& transfer, bool halo) {
  const Decomposition& block = *transfer.decomposition;
  if (!halo || block.tile().empty()) return own_cells(transfer);
  const Box around = intersection(block.tile_with_halo(), Box::whole(block.global()));
  return within_region({around}, transfer.region).front();
}

Transfer as_map(const Transfer& transfer, const std::shared_ptr<const Decomposition>& map, const Box& box,
                std::byte* cells, Type type) {
  Transfer out = transfer;
  out.decomposition = map;
  const int outer_dims = transfer.region.rank() - map->rank();
  const int behind = transfer.region.rank() - map->uncut_dims();
  Dims extents;
  std::int64_t mapped = 1;
  for (int d = 0; d < box.rank(); ++d) {
    if (d < outer_dims || d >= behind)
      extents.push_back(box.count[d]);
    else
      mapped *= box.count[d];
    if (d == behind - 1) extents.push_back(mapped);
  }
  out.array = ArrayView::contiguous(box.empty() ? nullptr : cells, type, extents);
  return out;
}

Status pack_tile(const Transfer& transfer, const VariableDef& definition,
                 const std::shared_ptr<const Decomposition>& map, ScratchBuffer& buffer, Seconds& time,
                 Transfer& packed) {
  const std::size_t size = size_of(definition.type);
  const Box box = own_cells(transfer);
  std::byte* cells = nullptr;
  ConversionErrors conversion_errors;
  Status status;
  if (!transfer.refused && !box.empty())
    status = caught([&] {
      const Timer timer(time);
      cells = buffer.of(static_cast<std::size_t>(box.cells()) * size);
      const Bytes fill = fill_of(definition);
      // Not rounded yet: what becomes of the map does it, and twice could be too much.
      conversion_errors =
          pack_cells(transfer, box, cells, byte_strides(box.count, size),
                     find_conversion(in_memory(transfer), {definition.type, size, false}), fill.data());
    });
  if (conversion_errors.count > 0)
    status.merge(conversion_status(transfer, definition, conversion_errors, box, true));
  packed = as_map(transfer, map, box, cells, definition.type);
  if (loses_bytes(status)) packed.refused.why.merge(status);
  return status;
}

Status unpack_tile(const Transfer& transfer, const VariableDef& definition, const Box& box,
                   const std::byte* cells) {
  const std::size_t size = size_of(definition.type);
  const ConversionErrors conversion_errors =
      unpack_cells(transfer, cells, byte_strides(box.count, size), box,
                   find_conversion({definition.type, size, false}, in_memory(transfer)));
  return conversion_errors.count > 0
             ? conversion_status(transfer, definition, conversion_errors, transfer.mine, false)
             : Status{};
}

}  // namespace shoal
