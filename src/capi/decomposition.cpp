// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "capi/handles.hpp"

using namespace shoal;        // NOLINT
using namespace shoal::capi;  // NOLINT

namespace {

constexpr int k_max_cut = 7;

Dims dims_from(int n, const int64_t* values) {
  return values == nullptr ? Dims(n) : Dims(std::span(values, static_cast<std::size_t>(n)));
}

void copy_out(const Dims& dims, int64_t* out) {
  if (out != nullptr) std::copy(dims.begin(), dims.end(), out);
}

}  // namespace

int shoal_block(MPI_Comm comm, int ndims, const int64_t* global, const int64_t* first, const int64_t* count,
                const int64_t* halo_low, const int64_t* halo_high, shoal_decomposition** out) {
  return guard([&] {
    if (out != nullptr) *out = nullptr;
    require_mpi(comm);
    const Comm own(comm);
    // Bad arguments of one rank are told to all: it goes on with an empty tile.
    const Status problem = caught([&] {
      require(out, "out");
      if (ndims < 1 || ndims > k_max_cut)
        throw Error(Code::invalid_argument,
                    "a decomposition has 1 to 7 dimensions, not " + std::to_string(ndims));
      require(global, "global");
      require(first, "first");
      require(count, "count");
    });
    const int n = problem.ok() ? ndims : 1;
    const bool usable = problem.ok();
    auto made = Decomposition::block(
        own, usable ? dims_from(n, global) : Dims{1},
        usable ? Box(dims_from(n, first), dims_from(n, count)) : Box(Dims(1), Dims(1)),
        usable ? dims_from(n, halo_low) : Dims(1), usable ? dims_from(n, halo_high) : Dims(1), problem);
    *out = new shoal_decomposition{std::move(made)};
  });
}

int shoal_decomposition_free(shoal_decomposition** decomposition) {
  return guard([&] {
    require(decomposition, "decomposition");
    delete *decomposition;
    *decomposition = nullptr;
  });
}

int shoal_decomposition_inquire(const shoal_decomposition* decomposition, int* ndims, int64_t* global,
                                int64_t* first, int64_t* count, int64_t* halo_low, int64_t* halo_high) {
  return guard([&] {
    require(decomposition, "decomposition");
    const Decomposition& d = *decomposition->decomposition;
    if (ndims != nullptr) *ndims = d.rank();
    copy_out(d.global(), global);
    copy_out(d.tile().first, first);
    copy_out(d.tile().count, count);
    copy_out(d.halo_low(), halo_low);
    copy_out(d.halo_high(), halo_high);
  });
}
