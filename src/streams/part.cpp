// SPDX-License-Identifier: BSD-3-Clause
#include "streams/part.hpp"

#include <numeric>

#include "base/error.hpp"
#include "streams/nth.hpp"

namespace shoal::streams {

namespace {

bool all_whole(const std::vector<DimChoice>& choices, std::size_t from) {
  return std::all_of(choices.begin() + static_cast<std::ptrdiff_t>(from), choices.end(),
                     [](const DimChoice& choice) { return choice.whole; });
}

}  // namespace

Part::LocalDim Part::local_dim(std::int64_t extent, std::vector<std::int64_t> cells) {
  LocalDim dim;
  dim.count = static_cast<std::int64_t>(cells.size());
  dim.cells = std::move(cells);
  for (const std::int64_t cell : dim.cells) {
    Positions* run = dim.runs.empty() ? nullptr : &dim.runs.back();
    if (run != nullptr && run->count == 1 && cell > run->first) run->step = cell - run->first;
    if (run != nullptr && cell == run->first + run->count * run->step)
      run->count += 1;
    else
      dim.runs.push_back({cell, 1, 1});
  }
  dim.whole = dim.count == extent && (dim.count == 0 || (dim.runs.size() == 1 && dim.runs[0].step == 1));
  return dim;
}

Part::Part(const Comm& comm, std::vector<DimChoice> choices, int outer,
           const std::shared_ptr<const Decomposition>& grid)
    : choices_(std::move(choices)), outer_(outer) {
  for (int d = 0; d < outer_; ++d) {
    const DimChoice& choice = nth(choices_, d);
    std::vector<std::int64_t> cells(static_cast<std::size_t>(choice.chosen()));
    for (std::size_t i = 0; i < cells.size(); ++i)
      cells[i] = choice.cell(static_cast<std::int64_t>(i));
    dims_.push_back(local_dim(choice.length, std::move(cells)));
  }
  const bool of_sites = grid != nullptr && nth(choices_, outer_).is_of_sites();
  if (of_sites)
    cut_sites(comm, grid);
  else if (grid != nullptr && grid->map() != nullptr)
    cut_map(comm, grid);
  else if (grid != nullptr)
    cut_block(comm, grid);
  for (const LocalDim& dim : dims_)
    local_shape_.push_back(dim.count);
  if (of_sites) local_shape_.push_back(static_cast<std::int64_t>(list_.size()));
}

void Part::cut_block(const Comm& comm, const std::shared_ptr<const Decomposition>& grid) {
  const int nd = grid->rank();
  const Box& tile = grid->tile();
  Dims global(nd), first(nd), count(nd);
  bool empty = tile.empty();
  std::vector<std::vector<std::int64_t>> cells(static_cast<std::size_t>(nd));
  for (int d = 0; d < nd; ++d) {
    const DimChoice& choice = nth(choices_, outer_ + d);
    global[d] = choice.chosen();
    std::int64_t from = tile.first[d], to = tile.end(d);
    if (!choice.whole) {
      const auto at = [&](std::int64_t cell) {
        return std::lower_bound(choice.cells.begin(), choice.cells.end(), cell) - choice.cells.begin();
      };
      from = at(from);
      to = at(to);
    }
    first[d] = from;
    count[d] = to - from;
    empty = empty || count[d] == 0;
    for (std::int64_t i = from; i < to; ++i)
      nth(cells, d).push_back(choice.cell(i) - tile.first[d]);
  }
  if (empty) {
    first = count = Dims(nd);
    cells.assign(static_cast<std::size_t>(nd), {});
  }
  for (int d = 0; d < nd; ++d)
    dims_.push_back(local_dim(tile.count[d], std::move(nth(cells, d))));
  first_ = first;
  const int masked_dims = grid->masked_dims();
  if (grid->is_masked() && !empty) {
    masked_ = CellMask(tail(count, masked_dims));
    if (const CellMask* mask = grid->mask()) {
      const Dims strides = row_major_strides(mask->shape());
      for (std::int64_t i = 0; i < masked_.cells(); ++i) {
        const Dims at = unravel(i, masked_.shape());
        std::int64_t cell = 0;
        for (int d = 0; d < masked_dims; ++d)
          cell += nth(nth(dims_, outer_ + nd - masked_dims + d).cells, at[d]) * strides[d];
        if (mask->is_masked(cell)) masked_.set_masked(i);
      }
    }
  }
  decomposition_ = grid;
  if (all_whole(choices_, static_cast<std::size_t>(outer_))) return;
  decomposition_ = Decomposition::block(comm, global, Box(first, count), Dims(nd), Dims(nd));
  if (grid->is_masked()) {
    CellMask mask = empty ? CellMask(Dims(masked_dims)) : masked_;
    decomposition_ = Decomposition::masked(comm, decomposition_.get(), std::move(mask));
  }
}

void Part::cut_map(const Comm& comm, const std::shared_ptr<const Decomposition>& grid) {
  const IndexMap& map = *grid->map();
  const Dims shape = grid->mapped_shape();
  const int mapped = shape.size();
  std::vector<std::int64_t> list(static_cast<std::size_t>(map.local_cells()), k_hole);
  map.for_each_run(0, volume(shape), [&](const IndexMap::Run& run) {
    for (std::int64_t i = 0; i < run.length; ++i)
      nth(list, run.local + i) = run.global + i;
  });
  // Where each chosen index of a dimension comes to lie.
  std::vector<std::vector<std::int64_t>> places(static_cast<std::size_t>(mapped));
  for (int d = 0; d < mapped; ++d) {
    const DimChoice& choice = nth(choices_, outer_ + d);
    mapped_.push_back(choice.chosen());
    nth(places, d).assign(static_cast<std::size_t>(choice.length), -1);
    for (std::int64_t i = 0; i < choice.chosen(); ++i)
      nth(nth(places, d), choice.cell(i)) = i;
  }
  const bool whole = all_whole(choices_, static_cast<std::size_t>(outer_));
  std::vector<std::int64_t> positions;
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::int64_t cell = list[i] == k_hole ? k_hole : 0;
    if (cell != k_hole) {
      const Dims at = unravel(list[i], shape);
      for (int d = 0; d < mapped && cell != k_hole; ++d) {
        const std::int64_t place = nth(nth(places, d), at[d]);
        cell = place < 0 ? k_hole : cell * mapped_[d] + place;
      }
    }
    if (cell == k_hole && !whole) continue;
    list_.push_back(cell);
    positions.push_back(static_cast<std::int64_t>(i));
  }
  masked_ = CellMask(Dims{static_cast<std::int64_t>(list_.size())});
  for (std::size_t i = 0; i < list_.size(); ++i)
    if (list_[i] == k_hole || (grid->mask() != nullptr && grid->mask()->is_masked(positions[i])))
      masked_.set_masked(static_cast<std::int64_t>(i));
  dims_.push_back(local_dim(map.local_cells(), std::move(positions)));
  Dims global = mapped_;
  for (std::size_t d = static_cast<std::size_t>(outer_ + mapped); d < choices_.size(); ++d) {
    const DimChoice& choice = choices_[d];
    std::vector<std::int64_t> cells(static_cast<std::size_t>(choice.chosen()));
    for (std::size_t i = 0; i < cells.size(); ++i)
      cells[i] = choice.cell(static_cast<std::int64_t>(i));
    dims_.push_back(local_dim(choice.length, std::move(cells)));
    global.push_back(choice.chosen());
    inner_ *= choice.chosen();
  }
  decomposition_ = grid;
  if (whole) return;
  decomposition_ = Decomposition::map(comm, global, grid->uncut_dims(), list_);
  if (grid->is_masked()) decomposition_ = Decomposition::masked(comm, decomposition_.get(), masked_);
}

Dims Part::index_in_file(std::int64_t cell) const {
  const Dims local = unravel(cell, local_shape_);
  Dims out;
  for (int d = 0; d < outer_; ++d)
    out.push_back(local[d]);
  if (decomposition_ == nullptr) return out;
  if (decomposition_->map() == nullptr) {
    for (int d = outer_; d < local.size(); ++d)
      out.push_back(first_[d - outer_] + local[d]);
    return out;
  }
  const std::int64_t at = nth(list_, local[outer_]);
  for (const std::int64_t n : at == k_hole ? Dims(mapped_.size(), -1) : unravel(at, mapped_))
    out.push_back(n);
  for (int d = outer_ + 1; d < local.size(); ++d)
    out.push_back(local[d]);
  return out;
}

}  // namespace shoal::streams
