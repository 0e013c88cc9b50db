// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "capi/own_comm.hpp"
#include "capi/structs.hpp"
#include "dataset/maps/map_file.hpp"
#include "dataset/maps/mask.hpp"

using namespace shoal;        // NOLINT
using namespace shoal::capi;  // NOLINT

namespace {

Dims dims_from(int n, const int64_t* values) {
  return values == nullptr ? Dims(n) : Dims(std::span(values, static_cast<std::size_t>(n)));
}

void copy_out(const Dims& dims, int64_t* out) {
  if (out != nullptr) std::copy(dims.begin(), dims.end(), out);
}

void check_ndims(int ndims) {
  if (ndims < 1 || ndims > k_most_dims)
    throw Error(Code::invalid_argument, "a decomposition has 1 to {} dimensions, not {}", k_most_dims, ndims);
}

}  // namespace

int shoal_refuse(MPI_Comm comm, int code, const char* message) {
  return guard([&] {
    require_mpi(comm);
    Own(comm, "a call that is refused").comm().agree_or_throw(refusal_of(code, message));
  });
}

int shoal_block(MPI_Comm comm, int ndims, const int64_t* global, const int64_t* first, const int64_t* count,
                const int64_t* halo_low, const int64_t* halo_high, shoal_decomposition** out) {
  return guard([&] {
    if (out != nullptr) *out = nullptr;
    require_mpi(comm);
    const Own own(comm, "block");
    own.agree_or_throw(caught([&] {
      require(out, "out");
      check_ndims(ndims);
      require(global, "global");
      require(first, "first");
      require(count, "count");
    }));
    auto made = Decomposition::block(own.comm(), dims_from(ndims, global),
                                     Box(dims_from(ndims, first), dims_from(ndims, count)),
                                     dims_from(ndims, halo_low), dims_from(ndims, halo_high));
    *out = new shoal_decomposition{std::move(made)};
  });
}

int shoal_map(MPI_Comm comm, int ndims, const int64_t* global, int uncut_dims, int64_t ncells,
              const int64_t* cells, shoal_decomposition** out) {
  return guard([&] {
    if (out != nullptr) *out = nullptr;
    require_mpi(comm);
    const Own own(comm, "map");
    own.agree_or_throw(caught([&] {
      require(out, "out");
      check_ndims(ndims);
      require(global, "global");
      if (ncells < 0)
        throw Error(Code::invalid_argument, "ncells is {}; a list of cells has 0 or more", ncells);
      if (ncells > 0) require(cells, "cells");
    }));
    auto made = Decomposition::map(own.comm(), dims_from(ndims, global), uncut_dims,
                                   {cells, static_cast<std::size_t>(ncells)});
    *out = new shoal_decomposition{std::move(made)};
  });
}

int shoal_masked(MPI_Comm comm, const shoal_decomposition* decomposition, const shoal_array* mask,
                 shoal_decomposition** out) {
  return guard([&] {
    if (out != nullptr) *out = nullptr;
    require_mpi(comm);
    const Own own(comm, "masked");
    CellMask cells;
    own.agree_or_throw(caught([&] {
      require(out, "out");
      require(decomposition, "decomposition");
      const Decomposition& base = *decomposition->decomposition;
      if (!base.tile().empty()) cells = mask_of(base, HostArray(array_of(mask)).view());
    }));
    auto made = Decomposition::masked(own.comm(), decomposition_of(decomposition).get(), std::move(cells));
    *out = new shoal_decomposition{std::move(made)};
  });
}

int shoal_unique(MPI_Comm comm, const shoal_decomposition* decomposition, shoal_decomposition** out) {
  return guard([&] {
    if (out != nullptr) *out = nullptr;
    require_mpi(comm);
    const Own own(comm, "unique");
    own.agree_or_throw(caught([&] {
      require(out, "out");
      require(decomposition, "decomposition");
    }));
    auto made = Decomposition::unique(own.comm(), decomposition_of(decomposition));
    *out = new shoal_decomposition{std::move(made)};
  });
}

int shoal_decomposition_save(MPI_Comm comm, const shoal_decomposition* decomposition, const char* path) {
  return guard([&] {
    require_mpi(comm);
    std::string name;
    const Own own(comm, "save", text_or_empty(path));
    own.agree_or_throw(caught([&] {
      require(decomposition, "decomposition");
      name = required_text(path, "path");
    }));
    save_decomposition(comm, decomposition_of(decomposition).get(), name);
  });
}

int shoal_decomposition_load(MPI_Comm comm, const char* path, const char* name, shoal_decomposition** out) {
  return guard([&] {
    if (out != nullptr) *out = nullptr;
    require_mpi(comm);
    std::string file;
    const Own own(comm, "load", text_or_empty(path));
    own.agree_or_throw(caught([&] {
      require(out, "out");
      file = required_text(path, "path");
    }));
    auto made = load_decomposition(comm, file, text_or_empty(name));
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

int shoal_decomposition_map_info(const shoal_decomposition* decomposition, shoal_map_info* out) {
  return guard([&] {
    require(decomposition, "decomposition");
    require(out, "out");
    const Decomposition& d = *decomposition->decomposition;
    const IndexMap* map = d.map();
    shoal_map_info made = SHOAL_MAP_INFO_INIT;
    made.ncells = made.mapped = d.tile().cells();
    made.leaves_cells = d.leaves_cells() ? 1 : 0;
    if (map != nullptr) {
      made.is_map = 1;
      made.uncut = d.uncut_dims();
      made.ncells = map->local_cells();
      made.mapped = map->mapped_cells();
      made.runs = map->runs();
      made.bytes = d.map_bytes();
    }
    if (const auto& repeated = d.repeated()) {
      made.repeated = repeated->index;
      made.repeated_ranks[0] = repeated->rank_a;
      made.repeated_ranks[1] = repeated->rank_b;
    }
    hand_out(made, out, k_map_info_0_2, "shoal_map_info");
  });
}

int shoal_decomposition_cells(const shoal_decomposition* decomposition, int64_t* cells_out) {
  return guard([&] {
    require(decomposition, "decomposition");
    const auto cells = local_cells(*decomposition->decomposition);
    if (cells.empty()) return;
    require(cells_out, "cells_out");
    std::copy(cells.begin(), cells.end(), cells_out);
  });
}
