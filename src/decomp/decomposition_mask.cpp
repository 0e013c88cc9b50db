// SPDX-License-Identifier: BSD-3-Clause
// The part of Decomposition that is about masks.
#include <algorithm>
#include <string>
#include <utility>

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
    throw Error(Code::invalid_argument, "the mask has the extents " + text_of(mask.shape()) +
                                            "; this rank's cells are " + text_of(shape));
}

// Holes of a map are neither land nor water.
std::int64_t water_in(const Decomposition& base, const CellMask& mask) {
  if (base.map() == nullptr) return mask.cells() - mask.land_cells();
  std::int64_t water = 0;
  base.map()->for_each_run(0, volume(base.mapped_shape()), [&](const IndexMap::Run& run) {
    mask.for_each_run(run.local, run.length,
                      [&](std::int64_t, std::int64_t n, bool land) { water += land ? 0 : n; });
  });
  return water;
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
              "the mask has " + std::to_string(dims) + " dimensions here and " + std::to_string(most) +
                  " on another rank; give one of as many dimensions on all ranks",
              -1,
              {},
              {}};
  comm.agree_or_throw(status);
  std::shared_ptr<Decomposition> out(new Decomposition(*base));
  out->masked_dims_ = static_cast<int>(std::min<std::int64_t>(most, base->rank() - base->whole()));
  if (base->map() != nullptr) out->masked_dims_ = base->rank() - base->whole();
  out->water_cells_ = comm.sum(has_cells ? water_in(*base, mask) : 0);
  out->mask_ =
      has_cells && mask.land_cells() > 0 ? std::make_shared<const CellMask>(std::move(mask)) : nullptr;
  return out;
}

}  // namespace shoal
