// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "decomp/decomposition.hpp"

namespace shoal {

class Dataset;

/// The global index of each local cell of this rank, in local order: k_hole for holes. Of a block: the cells
/// of its tile, row-major. Local.
std::vector<std::int64_t> local_cells(const Decomposition& decomposition);

/// Cells of a box of a grid by their index, row-major. Local.
std::vector<std::int64_t> cells_of_box(const Box& box, const Dims& grid);

/// Save a decomposition, block or map, with its mask, to a NetCDF file (docs/file_formats.md), replacing one
/// that exists. Error on all ranks alike. Collective.
void save_decomposition(MPI_Comm comm, const Decomposition* decomposition, const std::string& path);

/// The decomposition in a file: of Shoal, of E3SM's I/O benchmark (NetCDF; name: which of them, "D2"), or of
/// PIO (text; name: "c" if its dimensions are slowest first). On as many ranks as it was saved from, each
/// rank gets what it had; on others, a map with an even share of the cells in saved order, without holes and
/// halos. No rank holds the lists of others. Error on all ranks alike: not_found, format, and what
/// Decomposition::map finds. Collective.
std::shared_ptr<const Decomposition> load_decomposition(MPI_Comm comm, const std::string& path,
                                                        const std::string& name);

namespace map_file {

/// Part `part` of n things cut evenly into `parts`: begins at the result, ends where the next one begins.
std::int64_t even_begin(std::int64_t n, int parts, int part);

/// What load_decomposition does for each kind of file, and how it distinguishes them.
bool is_pio_text(const std::string& first_bytes);
std::shared_ptr<const Decomposition> load_pio_text(const Comm& comm, const std::string& path,
                                                   const std::string& name);
/// parent: what comm was made of.
std::shared_ptr<const Decomposition> load_netcdf(MPI_Comm parent, const Comm& comm, const std::string& path,
                                                 const std::string& name);

/// The mask of a decomposition as a field in its file: what is kept of it from its definition until it is
/// written. Collective, all three. with_mask: the decomposition with the mask that the file has for it;
/// Error(format).
struct SavedMask {
  std::shared_ptr<const Decomposition> cut;
  std::vector<std::int8_t> active;
};
void define_mask(const Comm& comm, Dataset& file, const Decomposition& d, SavedMask& mask);
void write_mask(Dataset& file, SavedMask& mask);
std::shared_ptr<const Decomposition> with_mask(const Comm& comm, Dataset& file,
                                               std::shared_ptr<const Decomposition> d);

/// A list of cells in a file never has more than this: a rank's list is shorter than 2^32.
inline constexpr std::int64_t k_longest_list = (std::int64_t{1} << 32) - 1;

/// Names of what Shoal's own files of decompositions hold.
inline constexpr const char* k_kind = "shoal_decomposition";
inline constexpr const char* k_version = "shoal_decomposition_version";
/// Versions: files with a mask are of the second, which those who know no masks refuse.
inline constexpr std::int32_t k_plain_version = 1;
inline constexpr std::int32_t k_masked_version = 2;

}  // namespace map_file
}  // namespace shoal
