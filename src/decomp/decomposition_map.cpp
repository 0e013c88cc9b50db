// SPDX-License-Identifier: BSD-3-Clause
// The part of Decomposition that is about maps.
#include <fmt/core.h>

#include <string>
#include <utility>

#include "base/language.hpp"
#include "decomp/decomposition.hpp"

namespace shoal {

namespace {

constexpr std::int64_t k_most_cells = std::int64_t{1} << 62;

struct Shape {
  Dims global;
  std::int64_t uncut_dims = 0;
};

void check_shape(const Dims& global, int uncut_dims) {
  if (global.size() < 1 || global.size() > k_most_dims)
    throw Error(Code::invalid_argument, "a decomposition has 1 to {} dimensions, not {}", k_most_dims,
                global.size());
  std::int64_t cells = 1;
  for (int d = 0; d < global.size(); ++d) {
    if (global[d] < 1)
      throw Error(Code::invalid_argument, "the global shape {} has no cells in {}; it must be 1 or more",
                  text_of(global), dimension_text(d, global.size()));
    if (cells > k_most_cells / global[d])
      throw Error(Code::invalid_argument,
                  "the global shape {} has more than 2^62 cells; no more are possible", text_of(global));
    cells *= global[d];
  }
  if (uncut_dims < 0 || uncut_dims >= global.size())
    throw Error(
        Code::invalid_argument,
        "the map leaves {} of the {} dimensions of {} uncut; 0 to {} are possible, as one must be cut",
        uncut_dims, global.size(), text_of(global), global.size() - 1);
}

/// The same shape as rank 0's?
void check_same(const Shape& mine, const Shape& of_root) {
  const auto text = [](const Shape& shape) {
    return fmt::format("{} with {} dimensions uncut", text_of(shape.global), shape.uncut_dims);
  };
  if (!(mine.global == of_root.global) || mine.uncut_dims != of_root.uncut_dims)
    throw Error(Code::invalid_argument,
                "rank 0 gives the global shape {}, this rank gives {}; it must be the same on all ranks",
                text(of_root), text(mine));
}

Dims front(const Dims& dims, int n) {
  return Dims(std::span(dims.begin(), dims.begin() + n));
}

}  // namespace

std::shared_ptr<const Decomposition> Decomposition::map(const Comm& comm, const Dims& global, int uncut_dims,
                                                        std::span<const std::int64_t> cells,
                                                        const Status& problem) {
  std::shared_ptr<Decomposition> out(new Decomposition);
  Shape of_root{global, uncut_dims};
  comm.broadcast(reinterpret_cast<std::byte*>(&of_root), sizeof of_root, 0);
  Status status = problem;
  if (status.ok())
    status = caught([&] {
      check_shape(global, uncut_dims);
      check_same({global, uncut_dims}, of_root);
      out->map_ = std::make_shared<const IndexMap>(cells, volume(front(global, global.size() - uncut_dims)));
    });
  comm.agree_or_throw(status);

  out->global_ = global;
  out->uncut_dims_ = uncut_dims;
  out->tile_ = out->map_->empty() ? Box(Dims(global.size()), Dims(global.size())) : Box::whole(global);
  out->halo_low_ = Dims(global.size());
  out->halo_high_ = Dims(global.size());
  out->cut_ = joined(Dims(global.size() - uncut_dims, 1), Dims(uncut_dims));
  out->comm_size_ = comm.size();
  out->comm_rank_ = comm.rank();

  Ownership ownership = ownership_of(comm, *out->map_, volume(out->mapped_shape()));
  out->owned_cells_ = ownership.owned * volume(out->whole_shape());
  out->repeated_ = ownership.repeated;
  out->unowned_share_ = std::make_shared<const IndexMap>(std::move(ownership.unowned));
  return out;
}

std::shared_ptr<const Decomposition> Decomposition::unique(const Comm& comm,
                                                           std::shared_ptr<const Decomposition> base) {
  comm.agree_or_throw(caught([&] {
    if (base->comm_size() != comm.size() || base->comm_rank() != comm.rank())
      throw Error(Code::invalid_argument, "the decomposition was made with another communicator");
    if (base->repeated() && base->is_masked())
      throw Error(Code::not_supported,
                  "the map has a mask, and cells that come twice; make the map without its mask unique, and "
                  "give the mask to what comes out");
  }));
  if (!base->repeated()) return base;
  return map(comm, base->global_, base->uncut_dims_,
             unique_cells(comm, *base->map_, volume(base->mapped_shape())));
}

std::shared_ptr<const Decomposition> Decomposition::flattened() const {
  std::shared_ptr<Decomposition> out(new Decomposition(*this));
  out->global_ = joined({volume(mapped_shape())}, whole_shape());
  const int n = out->global_.size();
  out->tile_ = map_->empty() ? Box(Dims(n), Dims(n)) : Box::whole(out->global_);
  out->halo_low_ = out->halo_high_ = Dims(n);
  out->cut_ = joined({1}, Dims(uncut_dims_));
  return out;
}

Dims Decomposition::mapped_shape() const {
  return front(global_, rank() - uncut_dims_);
}

Dims Decomposition::local_shape() const {
  if (map_) return joined({map_->local_cells()}, whole_shape());
  return tile_with_halo().count;
}

Status Decomposition::writable() const {
  if (!repeated_) return {};
  const RepeatedCell& r = *repeated_;
  const Dims shape = mapped_shape();
  std::string cell = fmt::format("{} ({}", as_index(r.index), counted_from());
  if (shape.size() > 1)
    cell += fmt::format("; that is {} of {}", index_text(unravel(r.index, shape)), text_of(shape));
  cell += ")";
  const bool one_rank = r.rank_a == r.rank_b;
  const std::string who =
      one_rank ? fmt::format("rank {} owns the cell with index {} twice", r.rank_a, cell)
               : fmt::format("ranks {} and {} both own the cell with index {}", r.rank_a, r.rank_b, cell);
  return {Code::overlap,
          fmt::format(
              "{}, as {} local cells {} and {}; a field of this map can be read, but to write it each "
              "cell must be in one place: mark all others as holes ({}), as unique does",
              who, one_rank ? "its" : "their", as_index(r.local_a), as_index(r.local_b), as_index(k_hole))};
}

}  // namespace shoal
