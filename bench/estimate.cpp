// SPDX-License-Identifier: BSD-3-Clause
#include "estimate.hpp"

#include <algorithm>

#include "arrays.hpp"

namespace shoal::bench {

namespace {

constexpr std::int64_t k_mib = std::int64_t{1} << 20;
// A process with its libraries, and the buffers of MPI.
constexpr std::int64_t k_process = 48 * k_mib;
// Of a rank while files are checked or joined.
constexpr std::int64_t k_checking = 34 * k_mib;
// Shared memory of Shoal's stage on a node unless set.
constexpr std::int64_t k_stage = 256 * k_mib;
// Buffers of two-phase writing of MPI-IO and the like, of a rank.
constexpr std::int64_t k_library = 20 * k_mib;

// Bytes of distributed fields: of all without records, of all with (one record), of the largest.
struct Volumes {
  std::int64_t fixed = 0, record = 0, largest = 0;
};

Volumes volumes_of(const Content& content) {
  Volumes v;
  for (const auto& field : content.fields) {
    if (!field.distributed) continue;
    const auto bytes = field.elements() * size_of(field.type);
    (field.record ? v.record : v.fixed) += bytes;
    v.largest = std::max(v.largest, bytes);
  }
  return v;
}

std::int64_t working_memory(const EstimatedCase& c, const Volumes& v, int ranks) {
  if (c.driver == "posix") return v.fixed + v.record + std::max(v.fixed, v.record);
  if (c.driver == "native")
    return std::min(k_stage, std::max({v.fixed, v.record, k_mib})) + 2 * k_mib * ranks;
  // Packed cells of a field on every rank, and for queued calls a copy of all of them.
  std::int64_t bytes = v.largest + k_library * ranks;
  if (c.nonblocking) bytes += std::max(v.fixed, v.record);
  if (c.driver == "gather") bytes += c.bare ? v.largest : 32 * k_mib;
  return bytes;
}

std::int64_t file_bytes(const EstimatedCase& c, const Content& content, std::int64_t records, int ranks) {
  std::int64_t bytes = 0, replicated = 0;
  for (const auto& field : content.fields) {
    // Lines of text are of one width.
    const std::int64_t width = c.format != "ascii"        ? size_of(field.type)
                               : field.type == Type::dbl  ? 26
                               : field.type == Type::real ? 17
                                                          : 12;
    const auto all = content.define_only ? 0 : field.elements() * width * (field.record ? records : 1);
    (field.distributed ? bytes : replicated) += all;
  }
  // Chunks reach over the edges of fields.
  if (c.format.starts_with("netcdf4")) bytes += bytes / 8;
  const auto header = k_mib + static_cast<std::int64_t>(content.fields.size()) * 4096;
  const auto one = bytes + replicated + header;
  return c.several_files ? one + bytes + (replicated + header) * ranks : one;
}

}  // namespace

Estimate estimate_of(const Content& content, const Grid& grid, const Tiling& tiling, std::int64_t records,
                     bool reading, const std::vector<EstimatedCase>& cases) {
  const int ranks = tiling.xi * tiling.eta;
  Estimate estimate;
  std::int64_t working = k_checking * ranks;
  const auto volumes = volumes_of(content);
  for (const auto& c : cases) {
    if (!content.define_only) working = std::max(working, working_memory(c, volumes, ranks));
    estimate.disk_bytes = std::max(estimate.disk_bytes, file_bytes(c, content, records, ranks));
  }
  estimate.memory_bytes = working + k_process * ranks;
  if (content.define_only) return estimate;
  for (int rank = 0; rank < ranks; ++rank) {
    estimate.memory_bytes += arrays_bytes(content, grid, tiling, rank, std::max<std::int64_t>(records, 1));
    if (reading) estimate.memory_bytes += arrays_bytes(content, grid, tiling, rank, 1);
  }
  return estimate;
}

}  // namespace shoal::bench
