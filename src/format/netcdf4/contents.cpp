// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf4/contents.hpp"

#include <fmt/core.h>

namespace shoal::netcdf4 {

namespace {
constexpr std::size_t k_chunk_slots = 521;
constexpr std::size_t k_chunk_cache = 16 * 1024 * 1024;
}  // namespace

Id data_set_access(bool filtered) {
  Id access(check(H5Pcreate(H5P_DATASET_ACCESS), "make a data set access list"));
  // Others write beside HDF5, so it may not keep chunks; only those with filters pass through it alone.
  check(H5Pset_chunk_cache(access, filtered ? k_chunk_slots : 1, filtered ? k_chunk_cache : 0, 0.75),
        "set the chunk cache");
  return access;
}

hid_t Contents::open_variable(hid_t file, int variable) {
  auto& stored = variables[variable];
  if (!stored.dataset.valid()) {
    const auto access = data_set_access(stored.filtered);
    stored.dataset = Id(H5Dopen2(file, stored.link.c_str(), access));
    if (!stored.dataset.valid()) throw hdf5_error(fmt::format("open the data set '{}'", stored.link));
  }
  return stored.dataset;
}

hid_t Contents::open_scale(hid_t file, int dim) {
  auto& stored = dims[dim];
  if (stored.variable >= 0) return open_variable(file, stored.variable);
  if (stored.link.empty()) return -1;
  if (!stored.dataset.valid()) {
    stored.dataset = Id(H5Dopen2(file, stored.link.c_str(), H5P_DEFAULT));
    if (!stored.dataset.valid()) throw hdf5_error(fmt::format("open the dimension scale '{}'", stored.link));
  }
  return stored.dataset;
}

}  // namespace shoal::netcdf4
