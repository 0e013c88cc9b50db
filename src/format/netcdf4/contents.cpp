// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf4/contents.hpp"

#include <fmt/core.h>

#include <cmath>

#include "format/chunk_shape.hpp"

namespace shoal::netcdf4 {

namespace {
constexpr std::size_t k_chunk_slots = 521;
constexpr std::size_t k_chunk_cache = 16 * 1024 * 1024;
constexpr std::int64_t k_only_records_bytes = 4096;  // chunk of a variable with unlimited dimensions alone
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

Dims default_chunk(const Dims& shape, const std::vector<bool>& unlimited, std::size_t element,
                   std::int64_t chunk_bytes) {
  Dims chunk(shape.size(), 1);
  const auto size = static_cast<std::int64_t>(element);
  const auto limit = std::max<std::int64_t>(chunk_bytes / size, 1);
  if (std::find(unlimited.begin(), unlimited.end(), false) == unlimited.end()) {
    // Nothing but records: some in each chunk, equally many in each dimension.
    const auto cells =
        static_cast<double>(std::min(limit, std::max<std::int64_t>(k_only_records_bytes / size, 1)));
    const auto each = static_cast<std::int64_t>(std::pow(cells, 1.0 / std::max(shape.size(), 1)) + 1e-9);
    for (auto& n : chunk)
      n = std::max<std::int64_t>(each, 1);
    return chunk;
  }
  std::int64_t cells = 1;
  for (int d = shape.size() - 1; d >= 0; --d) {
    if (unlimited[static_cast<std::size_t>(d)]) continue;
    const auto length = std::max<std::int64_t>(shape[d], 1);
    if (length <= limit / cells) {
      chunk[d] = length;
      cells *= length;
      continue;
    }
    chunk[d] = even_part(length, limit / cells);
    break;
  }
  return chunk;
}

}  // namespace shoal::netcdf4
