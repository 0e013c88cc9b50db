// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/gathered/gathered_field.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/language.hpp"
#include "codec/convert.hpp"
#include "dataset/maps/map_file.hpp"
#include "pack/cells.hpp"
#include "pack/map_cells.hpp"

namespace shoal {

namespace {

Dims slice(const Dims& dims, int first, int n) {
  return Dims(std::span(dims.begin() + first, static_cast<std::size_t>(n)));
}

}  // namespace

std::vector<std::int64_t> active_points(const Decomposition& masked) {
  const int n = masked.masked_dims();
  const Box tile(tail(masked.tile().first, n), tail(masked.tile().count, n));
  std::vector<std::int64_t> cells = masked.map() != nullptr ? local_cells(masked)
                                    : masked.tile().empty() ? std::vector<std::int64_t>{}
                                                            : cells_of_box(tile, tail(masked.global(), n));
  if (const CellMask* mask = masked.mask())
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (mask->is_masked(static_cast<std::int64_t>(i))) cells[i] = k_hole;
  return cells;
}

GatheredField::GatheredField(const Comm& comm, std::shared_ptr<const Decomposition> grid, const OnGrid& how,
                             const CellPositions& list, bool write)
    : grid_(std::move(grid)),
      dim_(how.gathering.dim),
      inner_dims_(how.inner_dims),
      grid_dims_(how.gathering.shape.size()),
      length_(list.size()) {
  const bool is_map = grid_->map() != nullptr;
  const Dims global = joined({length_}, tail(grid_->global(), inner_dims_));
  const Box with_halo = intersection(grid_->tile_with_halo(), Box::whole(grid_->global()));
  std::vector<std::int64_t> cells;
  std::vector<std::int64_t> places;
  comm.agree_or_throw(caught([&] { cells = is_map ? local_cells(*grid_) : cells_of(with_halo); }));
  places = list.find(comm, cells);
  std::vector<bool> active;
  comm.agree_or_throw(caught([&] {
    active = active_cells();
    for (std::size_t i = 0; i < cells.size() && is_map; ++i) {
      if (!active.empty() && !active[i % active.size()]) cells[i] = places[i] = k_hole;  // stays as it is
      if (cells[i] != k_hole && places[i] == k_hole) absent_.push_back(static_cast<std::int64_t>(i));
    }
  }));
  with_halo_ = Decomposition::map(comm, global, inner_dims_, places);
  if (!write) return;
  if (!is_map && comm.max(std::int64_t{with_halo == grid_->tile() ? 0 : 1}) != 0) {
    comm.agree_or_throw(caught([&] { cells = cells_of(grid_->tile()); }));
    places = list.find(comm, cells);
  } else if (!grid_->is_masked()) {
    own_ = with_halo_;
    return;
  }
  Status missing;
  for (std::size_t i = 0; i < cells.size() && !active.empty(); ++i) {
    if (!active[i % active.size()]) {
      places[i] = k_hole;
    } else if (places[i] == k_hole && cells[i] != k_hole && missing.ok()) {
      missing = {Code::invalid_argument,
                 fmt::format("the mask has water at cell {} ({}) of the grid, which is not among the water "
                             "points of the file; give the mask that these were made from",
                             as_index(cells[i]), counted_from())};
    }
  }
  unwritable_ = comm.agree(missing);
  own_ = Decomposition::map(comm, global, inner_dims_, places);
}

// Which of the tile's cells, in the dimensions that are gathered, the mask leaves as water at any index of
// the others that it has; all of them repeat these where it has fewer dimensions. Empty: there is no mask.
std::vector<bool> GatheredField::active_cells() const {
  if (!grid_->is_masked()) return {};
  const CellMask* mask = grid_->mask();
  if (mask == nullptr) return {true};
  const Dims& shape = mask->shape();
  const int inner_dims = grid_->map() != nullptr ? 0 : std::min(inner_dims_, shape.size());
  const int gathered = std::min(grid_dims_, shape.size() - inner_dims);
  const std::int64_t each = volume(tail(shape, inner_dims));
  const std::int64_t cells = volume(slice(shape, shape.size() - inner_dims - gathered, gathered));
  std::vector<bool> active(static_cast<std::size_t>(cells));
  for (std::int64_t at = 0; at < mask->cells(); ++at)
    if (!mask->is_masked(at)) active[static_cast<std::size_t>(at / each % cells)] = true;
  return active;
}

// Of a box of the decomposition, in the dimensions that are gathered.
std::vector<std::int64_t> GatheredField::cells_of(const Box& box) const {
  if (box.empty()) return {};
  const int first = grid_->rank() - inner_dims_ - grid_dims_;
  return cells_of_box({slice(box.first, first, grid_dims_), slice(box.count, first, grid_dims_)},
                      slice(grid_->global(), first, grid_dims_));
}

Transfer GatheredField::in_file(const Transfer& grid, const std::shared_ptr<const Decomposition>& map) const {
  const int outer_dims = grid.region.rank() - grid_dims_ - inner_dims_;
  Transfer out;
  out.variable = grid.variable;
  out.refused = grid.refused;
  out.rounding = grid.rounding;
  out.decomposition = map;
  out.region = {
      joined(joined(slice(grid.region.first, 0, outer_dims), {0}), tail(grid.region.first, inner_dims_)),
      joined(joined(slice(grid.region.count, 0, outer_dims), {length_}),
             tail(grid.region.count, inner_dims_))};
  if (grid.region.empty()) out.region.count = Dims(out.region.rank());
  const bool has_cells = !grid.refused && !map->tile().empty() && !grid.region.empty();
  out.mine = has_cells ? out.region : no_cells(out.region.rank());
  out.array = CellArray::of_elements(in_memory(grid), nullptr, Dims(out.region.rank()));
  return out;
}

// Of a box of the grid's field, as an array whose cells are one dimension.
Dims GatheredField::list_extents(const Box& box) const {
  const int outer_dims = box.rank() - grid_dims_ - inner_dims_;
  return joined(joined(slice(box.count, 0, outer_dims), {volume(slice(box.count, outer_dims, grid_dims_))}),
                tail(box.count, inner_dims_));
}

Transfer GatheredField::for_writing(const Transfer& grid, const VariableDef& definition, ScratchBuffer& cells,
                                    Status& conversion_errors) const {
  Transfer out = in_file(grid, own_);
  if (out.mine.empty()) return out;
  if (grid_->map() != nullptr) {
    out.array = grid.array;
    return out;
  }
  const Element stored{definition.type, size_of(definition.type), false};
  const Box box = own_cells(grid);
  out.refused.why.merge(caught([&] {
    std::byte* const to = cells.of(bytes_of(box, stored.size));
    const Bytes fill = fill_of(definition);
    // Rounded where the list is written.
    const ConversionErrors found = pack_cells(grid, box, to, byte_strides(box.count, stored.size),
                                              find_conversion(in_memory(grid), stored), fill.data());
    if (found.count > 0) conversion_errors = conversion_status(grid, definition, found, box, true);
    out.array = ArrayView::contiguous(to, definition.type, list_extents(box));
  }));
  if (out.refused) out.mine = no_cells(out.region.rank());
  return out;
}

Transfer GatheredField::for_reading(const Transfer& grid, const VariableDef& definition,
                                    ScratchBuffer& cells) const {
  Transfer out = in_file(grid, with_halo_);
  if (grid.refused || grid_->tile().empty() || grid.region.empty()) return out;
  if (grid_->map() != nullptr) {
    out.array = grid.array;
    return out;
  }
  const std::size_t size = size_of(definition.type);
  out.refused.why.merge(caught([&] {
    const Box box =
        within_region({intersection(grid_->tile_with_halo(), Box::whole(grid_->global()))}, grid.region)
            .front();
    std::byte* const to = cells.of(bytes_of(box, size));
    const Bytes fill = fill_of(definition);
    fill_box(to, {static_cast<std::int64_t>(size)}, {box.cells()}, fill.data(), size);
    out.array = ArrayView::contiguous(to, definition.type, list_extents(box));
  }));
  return out;
}

Status GatheredField::give(const Transfer& grid, const VariableDef& definition, const Transfer& read) const {
  if (grid.refused || grid_->tile().empty() || grid.region.empty()) return {};
  if (grid_->map() != nullptr) return fill_masked_cells(grid, definition);
  const Element stored{definition.type, size_of(definition.type), false};
  const Box box =
      within_region({intersection(grid_->tile_with_halo(), Box::whole(grid_->global()))}, grid.region)
          .front();
  const ConversionErrors conversion_errors =
      unpack_cells(grid, read.array.host_cells(), byte_strides(box.count, stored.size), box,
                   find_conversion(stored, in_memory(grid)));
  return conversion_errors.count > 0
             ? conversion_status(grid, definition, conversion_errors, grid.mine, false)
             : Status{};
}

Status GatheredField::fill_masked_cells(const Transfer& grid, const VariableDef& definition) const {
  if (absent_.empty()) return {};
  const Element stored{definition.type, size_of(definition.type), false};
  const Bytes fill = fill_of(definition);
  std::array<std::byte, 16> value{};
  const ConversionErrors conversion_errors = find_conversion(stored, in_memory(grid))(
      fill.data(), 0, value.data(), 0, 1, substitute_for(grid.array.type()));
  fill_list_cells(grid, absent_, value.data());
  if (conversion_errors.count == 0) return {};
  return {Code::range,
          fmt::format("the fill value, which land gets, does not fit type {}; everything else was read",
                      name_of(grid.array.type())),
          -1,
          {},
          definition.name};
}

}  // namespace shoal
