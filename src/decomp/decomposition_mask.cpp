// SPDX-License-Identifier: BSD-3-Clause
// The part of Decomposition that is about masks.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/numbered.hpp"
#include "decomp/cell_positions.hpp"
#include "decomp/decomposition.hpp"

namespace shoal {

namespace {

void check_mask(const Comm& comm, const Decomposition* base, const CellMask& mask) {
  if (base->comm_size() != comm.size() || base->comm_rank() != comm.rank())
    throw Error(Code::invalid_argument,
                "the decomposition was made with another communicator than the one given with the mask");
  const Dims shape = base->map() != nullptr ? Dims{base->map()->local_cells()} : base->tile().count;
  if (base->tile().empty()) return;
  const int n = mask.shape().size();
  if (n < 1 || n > shape.size() || !(mask.shape() == tail(shape, n)))
    throw Error(Code::invalid_argument, "the mask has the extents {}; this rank's cells are {}",
                text_of(mask.shape()), text_of(shape));
}

// Holes of a map are neither land nor water.
bool has_masked(const Decomposition& base, const CellMask& mask, std::int64_t active) {
  return base.map() == nullptr ? mask.masked_cells() > 0 : active < base.map()->mapped_cells();
}

std::int64_t active_in(const Decomposition& base, const CellMask& mask) {
  if (base.map() == nullptr) return mask.cells() - mask.masked_cells();
  std::int64_t active = 0;
  base.map()->for_each_run(0, volume(base.mapped_shape()), [&](const IndexMap::Run& run) {
    mask.for_each_run(run.local, run.length,
                      [&](std::int64_t, std::int64_t n, bool masked) { active += masked ? 0 : n; });
  });
  return active;
}

/// Tiles that are beside each other in other dimensions than the mask's may have different masks: then all
/// dimensions count.
int dims_with_mask(const Decomposition& d) {
  for (int i = 0; i < d.rank() - d.masked_dims(); ++i)
    if (d.is_cut(i)) return d.rank();
  return d.masked_dims();
}

/// Calls visit(index) for the cells of a box, row-major.
template <class Visit>
void for_each_cell(const Box& box, Visit&& visit) {
  const int last = box.rank() - 1;
  for (std::int64_t first = 0; first < box.cells(); first += box.count[last]) {
    Dims index = unravel(first, box.count);
    for (int d = 0; d <= last; ++d)
      index[d] += box.first[d];
    for (; index[last] < box.end(last); ++index[last])
      visit(index);
  }
}

/// Land of a tile with its halo: what is land of the tile, and what no rank has as water around it.
/// Collective.
CellMask masked_with_halo(const Comm& comm, const Decomposition& d, const CellMask& own) {
  const int n = dims_with_mask(d);
  const auto last = [&](const Box& box) { return Box(tail(box.first, n), tail(box.count, n)); };
  const Box tile = last(d.tile());
  const Box around = last(d.tile_with_halo());
  const Box grid = Box::whole(tail(d.global(), n));
  std::vector<std::int64_t> active;
  Numbered<std::int64_t> asked;
  CellMask out;
  comm.agree_or_throw(caught([&] {
    out = CellMask(d.tile().empty() ? Dims(n) : around.count);
    if (d.tile().empty()) return;
    asked.assign(around.cells(), k_hole);
    for_each_cell(intersection(around, grid),
                  [&](const Dims& index) { asked[position_in(index, around)] = position_in(index, grid); });
    std::int64_t cell = 0;  // of the tile
    for_each_cell(tile, [&](const Dims& index) {
      const std::int64_t at = position_in(index, around);
      if (own.is_masked(cell++ % own.cells()))
        out.set_masked(at);
      else
        active.push_back(asked[at]);
      asked[at] = k_hole;
    });
  }));
  const auto found = CellPositions::numbered(comm, grid.cells(), active).find(comm, asked);
  for (std::size_t i = 0; i < found.size(); ++i)
    if (asked[i] != k_hole && found[i] == k_hole) out.set_masked(static_cast<std::int64_t>(i));
  return out;
}

}  // namespace

std::shared_ptr<const Decomposition> Decomposition::masked(const Comm& comm, const Decomposition* base,
                                                           CellMask mask) {
  Status status = caught([&] { check_mask(comm, base, mask); });
  const bool has_cells = status.ok() && !base->tile().empty();
  const std::int64_t dims = has_cells ? mask.shape().size() : 0;
  // Ranks without cells go by the others; where nobody has any, by what they gave.
  std::int64_t most = comm.max(dims);
  if (most == 0)
    most = std::max<std::int64_t>(1, comm.max(status.ok() ? std::int64_t{mask.shape().size()} : 0));
  if (has_cells && dims != most)
    status = {Code::invalid_argument,
              fmt::format("the mask has {} dimensions here and {} on another rank; give one of as many "
                          "dimensions on all ranks",
                          dims, most),
              -1,
              {},
              {}};
  comm.agree_or_throw(status);
  std::shared_ptr<Decomposition> out(new Decomposition(*base));
  out->masked_dims_ = static_cast<int>(std::min<std::int64_t>(most, base->rank() - base->uncut_dims()));
  if (base->map() != nullptr) out->masked_dims_ = base->rank() - base->uncut_dims();
  const std::int64_t active = has_cells ? active_in(*base, mask) : 0;
  out->active_cells_ = comm.sum(active);
  const auto any = comm.max({has_cells && has_masked(*base, mask, active) ? 1 : 0, base->has_halo() ? 1 : 0});
  out->has_masked_ = any[0] != 0;
  const auto kept = [](CellMask masked) {
    return masked.masked_cells() > 0 ? std::make_shared<const CellMask>(std::move(masked)) : nullptr;
  };
  if (any[1] != 0) out->around_ = kept(masked_with_halo(comm, *out, mask));
  out->mask_ = has_cells ? kept(std::move(mask)) : nullptr;
  if (any[1] == 0) out->around_ = out->mask_;
  return out;
}

}  // namespace shoal
