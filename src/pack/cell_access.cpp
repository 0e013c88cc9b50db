// SPDX-License-Identifier: BSD-3-Clause
#include "pack/cell_access.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "pack/mapped_part.hpp"
#include "pack/pieces.hpp"

namespace shoal {

namespace {

AccessFinder& finder() {
  static AccessFinder found_by;
  return found_by;
}

/// The same with no more of the list than the part has.
MapCells narrowed(const MapCells& cells) {
  MapCells out = cells;
  const int list = cells.part.outer.rank();
  std::int64_t low = cells.box.end(list), end = 0;
  cells.part.rows.for_each_run(cells.map, cells.part.low, cells.part.end,
                               [&](const IndexMap::Run& run, std::int64_t) {
                                 low = std::min(low, run.local);
                                 end = std::max(end, run.local + run.length);
                               });
  out.box.first[list] = low;
  out.box.count[list] = std::max<std::int64_t>(end - low, 0);
  return out;
}

}  // namespace

// ---- Memory that the host cannot reach

// As if it were the array, of which it has the box alone.
ArrayView CellAccess::copy_of(const ArrayView& array, const Box& box, bool fetches) {
  ArrayView copy = array;
  copy.data = scratch_.of(bytes_of(box, array.element_size));
  copy.strides = byte_strides(box.count, array.element_size);
  if (fetches) fetch(array, box, copy.data);
  for (int d = 0; d < box.rank(); ++d)
    copy.data -= box.first[d] * copy.strides[d];
  return copy;
}

ConversionErrors CellAccess::gather(const ArrayView& array, const BlockCells& cells, std::byte* to,
                                    const CellConversion& how) {
  return HostCells().gather(copy_of(array, cells.box, true), cells, to, how);
}

ConversionErrors CellAccess::scatter(const ArrayView& array, const BlockCells& cells, const std::byte* from,
                                     const CellConversion& how) {
  const ArrayView copy = copy_of(array, cells.box, cells.mask != nullptr);
  const ConversionErrors errors = HostCells().scatter(copy, cells, from, how);
  store(array, cells.box, copy.part(cells.box).data);
  return errors;
}

ConversionErrors CellAccess::gather(const ArrayView& array, const MapCells& cells, std::byte* to,
                                    const CellConversion& how) {
  const MapCells part = narrowed(cells);
  if (part.box.empty()) return {};
  return HostCells().gather(copy_of(array, part.box, true), part, to, how);
}

// Other cells of the box may lie between those of the part.
ConversionErrors CellAccess::scatter(const ArrayView& array, const MapCells& cells, const std::byte* from,
                                     const CellConversion& how) {
  const MapCells part = narrowed(cells);
  if (part.box.empty()) return {};
  const ArrayView copy = copy_of(array, part.box, true);
  const ConversionErrors errors = HostCells().scatter(copy, part, from, how);
  store(array, part.box, copy.part(part.box).data);
  return errors;
}

// ---- Sources

ConversionErrors SourceCells::gather(const ArrayView& array, const BlockCells& cells, std::byte* to,
                                     const CellConversion& how) {
  Dims everything = cells.box.count;
  for (int d = 0; d < everything.size(); ++d)
    everything[d] = cells.box.end(d);
  ConversionErrors errors;
  std::int64_t done = 0;
  for_each_piece({cells.box}, everything, most_cells_, [&](const Piece& piece) {
    BlockCells part = cells;
    part.box = piece.cells;
    std::byte* at = to;
    const int unmasked = part.box.rank() - part.in_mask.size();
    for (int d = 0; d < part.box.rank(); ++d) {
      const std::int64_t skipped = part.box.first[d] - cells.box.first[d];
      at += skipped * cells.strides[d];
      if (d >= unmasked) part.in_mask[d - unmasked] += skipped;
    }
    errors.merge(CellAccess::gather(array, part, at, how), done);
    done += part.box.cells();
  });
  return errors;
}

void SourceCells::fetch(const ArrayView& /*array*/, const Box& box, std::byte* to) {
  Box part = box;
  for (int d = 0; d < first_.size(); ++d)
    part.first[d] += first_[d];
  source_(part, to);
}

void SourceCells::store(const ArrayView& /*array*/, const Box& /*box*/, const std::byte* /*from*/) {
  throw Error(Code::internal, "a source takes no cells");
}

// ---- Which access

void find_accesses_by(AccessFinder found_by) {
  finder() = std::move(found_by);
}

std::shared_ptr<CellAccess> find_access(const ArrayView& array) {
  auto found = array.data != nullptr && finder() ? finder()(array) : nullptr;
  return found != nullptr || array.data == nullptr ? found : HostCells::shared();
}

}  // namespace shoal
