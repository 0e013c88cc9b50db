// SPDX-License-Identifier: BSD-3-Clause
// The mask of a saved decomposition: a field of bytes, 1 is water, in the file of the decomposition. As it
// lies in global order, any number of ranks reads its part of it.
#include <fmt/core.h>

#include <algorithm>

#include "dataset/dataset.hpp"
#include "dataset/maps/map_file.hpp"

namespace shoal {

namespace {

constexpr const char* k_variable = "water";

Dims mapped_shape_of(const Decomposition& d) {
  return d.map() != nullptr ? d.mapped_shape() : d.global();
}

/// Which cells of a field of the shape (the last dimensions that are not `whole`) this rank has: of a map one
/// for each in its list, of a block those of its tile in these dimensions.
std::vector<std::int64_t> cells_in(const Decomposition& d, const Dims& shape) {
  if (d.map() == nullptr) {
    if (d.tile().empty()) return {};
    return cells_of_box({tail(d.tile().first, shape.size()), tail(d.tile().count, shape.size())}, shape);
  }
  std::vector<std::int64_t> cells = local_cells(d);
  const std::int64_t n = volume(shape);
  for (auto& cell : cells)
    if (cell != k_hole) cell %= n;
  return cells;
}

/// Tiles that are beside each other in other dimensions than the mask's may have different masks: then the
/// field has all dimensions.
Dims shape_to_save(const Decomposition& d) {
  const Dims all = mapped_shape_of(d);
  const int masked = d.map() != nullptr ? all.size() : d.masked_dims();
  for (int i = 0; i < all.size() - masked; ++i)
    if (d.is_cut(i)) return all;
  return tail(all, masked);
}

}  // namespace

void map_file::define_mask(const Comm& comm, Dataset& file, const Decomposition& d, SavedMask& mask) {
  const Dims shape = shape_to_save(d);
  std::vector<std::int64_t> cells;
  const Status status = caught([&] {
    cells = cells_in(d, shape);
    mask.active.assign(cells.size(), 1);
    if (const CellMask* own = d.mask())
      for (std::size_t i = 0; i < cells.size(); ++i)
        if (own->is_masked(static_cast<std::int64_t>(i) % own->cells())) mask.active[i] = 0;
  });
  mask.cut = Decomposition::map(comm, shape, 0, cells, status);
  std::string dims;
  for (int i = 0; i < shape.size(); ++i) {
    const std::string name = fmt::format("cell_{}", i);
    file.def_dim(name, shape[i]);
    dims += (i > 0 ? " " : "") + name;
  }
  const std::string about = "the mask: 1 is water, 0 is land, anything else belongs to no rank";
  file.def_var(k_variable, Type::byte_, dims, mask.cut);
  file.put_att(k_variable, "long_name", Type::char_, static_cast<std::int64_t>(about.size()), about.data());
}

void map_file::write_mask(Dataset& file, SavedMask& mask) {
  DataCall call;
  call.variable = k_variable;
  call.array.cells =
      ArrayView::contiguous(mask.active.data(), Type::byte_, {static_cast<std::int64_t>(mask.active.size())});
  file.write(call);
}

std::shared_ptr<const Decomposition> map_file::with_mask(const Comm& comm, Dataset& file,
                                                         std::shared_ptr<const Decomposition> d) {
  const Schema& schema = file.schema();
  const int v = schema.find_variable(k_variable);
  const Dims all = mapped_shape_of(*d);
  const Dims shape = v < 0 ? Dims() : schema.shape(v);
  if (v < 0 || shape.empty() || shape.size() > all.size() || !(tail(all, shape.size()) == shape) ||
      schema.variable(v).type != Type::byte_)
    throw Error(Code::format,
                "variable '{}', the mask, is not there or is no bytes of the decomposition's shape {}; the "
                "file holds no whole decomposition: save it again",
                k_variable, text_of(all));
  std::vector<std::int64_t> cells;
  std::vector<std::int8_t> active;
  const Status status = caught([&] {
    cells = cells_in(*d, shape);
    active.assign(cells.size(), 1);
  });
  const auto part = Decomposition::map(comm, shape, 0, cells, status);
  DataCall call;
  call.variable = k_variable;
  call.decomposition = part;
  call.array.cells =
      ArrayView::contiguous(active.data(), Type::byte_, {static_cast<std::int64_t>(active.size())});
  file.read(call);
  CellMask mask;
  comm.agree_or_throw(caught([&] {
    if (d->tile().empty()) return;
    mask =
        CellMask(d->map() != nullptr ? Dims{d->map()->local_cells()} : tail(d->tile().count, shape.size()));
    for (std::size_t i = 0; i < active.size(); ++i) {
      if (active[i] == 0) mask.set_masked(static_cast<std::int64_t>(i));
      if (active[i] != 0 && active[i] != 1)
        throw Error(Code::format,
                    "variable '{}', the mask, has {} at cell {} (from 0, row-major), which a rank owns; it "
                    "must be 0 or 1",
                    k_variable, active[i], cells[i]);
    }
  }));
  return Decomposition::masked(comm, d.get(), std::move(mask));
}

}  // namespace shoal
