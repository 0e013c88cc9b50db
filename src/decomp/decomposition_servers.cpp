// SPDX-License-Identifier: BSD-3-Clause
// Decompositions of ranks beside which others only store.
#include "decomp/decomposition.hpp"

namespace shoal {

std::shared_ptr<const Decomposition> Decomposition::with_more_ranks(int ranks) const {
  std::shared_ptr<Decomposition> out(new Decomposition(*this));
  out->comm_size_ = ranks;
  return out;
}

void Decomposition::pack_for_more_ranks(ByteWriter& out) const {
  out.put(global_);
  out.put(cut_);
  out.put(owned_cells_);
  out.put(map_ != nullptr);
  out.put(uncut_dims_);
  out.put(repeated_.has_value());
  out.put(repeated_.value_or(RepeatedCell{}));
  out.put(masked_dims_);
  out.put(has_masked_);
  out.put(active_cells_);
}

std::shared_ptr<const Decomposition> Decomposition::without_cells(ByteReader& in, int ranks, int rank) {
  std::shared_ptr<Decomposition> out(new Decomposition);
  in.get(out->global_);
  in.get(out->cut_);
  in.get(out->owned_cells_);
  const bool is_map = in.get<bool>();
  in.get(out->uncut_dims_);
  const bool repeats = in.get<bool>();
  const auto repeated = in.get<RepeatedCell>();
  if (repeats) out->repeated_ = repeated;
  in.get(out->masked_dims_);
  in.get(out->has_masked_);
  in.get(out->active_cells_);
  const Dims none(out->global_.size());
  out->tile_ = Box(none, none);
  out->halo_low_ = out->halo_high_ = none;
  if (is_map) {
    out->map_ =
        std::make_shared<const IndexMap>(std::span<const std::int64_t>(), volume(out->mapped_shape()));
    out->unowned_share_ = out->map_;
  }
  out->comm_size_ = ranks;
  out->comm_rank_ = rank;
  return out;
}

}  // namespace shoal
