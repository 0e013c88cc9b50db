// SPDX-License-Identifier: BSD-3-Clause
#include "format/reference/chunk_grid.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace shoal::reference {

namespace {

// Of a variable: more make references that nobody can load.
constexpr std::int64_t k_most_chunks = 200000;
// Readers take milliseconds for each chunk, so many small ones are of no use.
constexpr std::int64_t k_many_chunks = 1000;
constexpr std::int64_t k_least_bytes = 256;

/// Are blocks along the dimension equal, at multiples of their length, without halo?
bool is_regular(const std::vector<StoredPart>& parts, int d, std::int64_t length) {
  const std::int64_t chunk = parts.front().chunk[d];
  return std::all_of(parts.begin(), parts.end(), [&](const StoredPart& p) {
    const bool at_end = p.owned.end(d) == length;
    return p.chunk[d] == chunk && chunk > 0 && p.origin[d] % chunk == 0 && p.owned.first[d] == p.origin[d] &&
           (p.owned.count[d] % chunk == 0 || at_end);
  });
}

/// Cells that divide all borders of the parts and of their blocks.
std::int64_t common_divisor(const std::vector<StoredPart>& parts, int d) {
  std::int64_t divisor = 0;
  for (const auto& p : parts) {
    divisor = std::gcd(divisor, std::gcd(p.owned.first[d], p.owned.count[d]));
    if (p.chunk[d] < p.shape[d]) divisor = std::gcd(divisor, std::gcd(p.origin[d], p.chunk[d]));
  }
  return std::max<std::int64_t>(divisor, 1);
}

[[noreturn]] void refuse(const FileSet& set, int variable, const std::vector<StoredPart>& parts, int d) {
  const auto& definition = set.schema.variable(variable);
  const auto& dim = set.schema.dim(definition.dims[d]);
  const StoredPart& one = parts.front();
  const auto path = [&](const StoredPart& p) { return set.files[p.file].path; };
  const auto other = std::find_if(parts.begin(), parts.end(), [&](const StoredPart& p) {
    return p.owned.count[d] != one.owned.count[d] || p.chunk[d] != one.chunk[d];
  });
  std::string what = path(one) + " has " + std::to_string(one.owned.count[d]) + " cells of it";
  if (one.shape[d] != one.owned.count[d]) what += " and halo";
  if (one.chunk[d] != one.owned.count[d]) what += " in blocks of " + std::to_string(one.chunk[d]);
  if (other != parts.end()) {
    what += ", " + path(*other) + " " + std::to_string(other->owned.count[d]);
    if (other->chunk[d] != other->owned.count[d]) what += " in blocks of " + std::to_string(other->chunk[d]);
  }
  const bool divisible =
      std::all_of(parts.begin(), parts.end(), [](const StoredPart& p) { return p.divisible; });
  throw Error(Code::not_supported,
              "no reference can be made: Zarr, which references describe, needs chunks of one shape, and "
              "dimension '" +
                  dim.name + "' is cut unevenly: " + what +
                  (divisible ? "; chunks that divide them would be too small"
                             : "; compressed blocks cannot be divided") +
                  "; write a virtual master (netcdf4 files), cut the dimension evenly, or combine the files")
      .of_variable(definition.name)
      .in_file(path(one));
}

}  // namespace

ChunkGrid chunk_grid_of(const FileSet& set, int variable, const std::vector<StoredPart>& parts) {
  const Dims whole = set.schema.shape(variable);
  ChunkGrid grid{whole, true};
  for (int d = 0; d < whole.size(); ++d)
    grid.chunk[d] = std::max<std::int64_t>(whole[d], 1);
  if (parts.empty()) return grid;
  int last_irregular = -1;
  for (int d = whole.size() - 1; d >= 0 && last_irregular < 0; --d) {
    if (is_regular(parts, d, whole[d]))
      grid.chunk[d] = parts.front().chunk[d];
    else
      last_irregular = d;
  }
  if (last_irregular < 0) return grid;
  grid.blocks_as_stored = false;
  if (std::any_of(parts.begin(), parts.end(), [](const StoredPart& p) { return !p.divisible; }))
    refuse(set, variable, parts, last_irregular);
  grid.chunk[last_irregular] = common_divisor(parts, last_irregular);
  for (int d = 0; d < last_irregular; ++d)
    grid.chunk[d] = 1;
  double chunks = 1;
  for (int d = 0; d < whole.size(); ++d)
    chunks *= static_cast<double>(whole[d]) / static_cast<double>(grid.chunk[d]);
  const auto bytes =
      volume(grid.chunk) * static_cast<std::int64_t>(size_of(set.schema.variable(variable).type));
  if (chunks > static_cast<double>(k_most_chunks) ||
      (chunks > static_cast<double>(k_many_chunks) && bytes < k_least_bytes))
    refuse(set, variable, parts, last_irregular);
  return grid;
}

}  // namespace shoal::reference
