// SPDX-License-Identifier: BSD-3-Clause
//
// Shoal for C++, part of shoal.hpp, which includes it: which cells each rank owns.
#ifndef SHOAL_DECOMPOSITION_HPP
#define SHOAL_DECOMPOSITION_HPP

#include <shoal/bindings.h>
#include <shoal/arrays.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace shoal {
inline namespace api {

/// What a decomposition says of its list of cells; see shoal_map_info.
struct MapInfo {
  bool is_map = false;
  int uncut = 0;
  std::int64_t ncells = 0, mapped = 0, runs = 0, bytes = 0;
  std::int64_t repeated = SHOAL_HOLE;  ///< the lowest index that comes twice: unique() makes a map without
  std::pair<int, int> repeated_ranks{0, 0};
  bool leaves_cells = false;  ///< some cells of the global shape are no rank's, or masked
};

/// Which global cells each rank owns: one tile (box) a rank, or a list of cells. All shapes are in C order.
class Decomposition {
 public:
  /// global: shape over all ranks; first, count: this rank's tile (any count may be 0); halo_low,
  /// halo_high: halo cells before and after the tile in this rank's arrays, empty: none. Throws for
  /// tiles that overlap or reach outside. Collective.
  static Decomposition block(MPI_Comm comm, const std::vector<std::int64_t>& global,
                             const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& count,
                             const std::vector<std::int64_t>& halo_low = {},
                             const std::vector<std::int64_t>& halo_high = {}) {
    const bool fit = first.size() == global.size() && count.size() == global.size() &&
                     (halo_low.empty() || halo_low.size() == global.size()) &&
                     (halo_high.empty() || halo_high.size() == global.size());
    if (!fit)
      detail::check(shoal_refuse(comm, SHOAL_INVALID_ARGUMENT,
                                 "global, first, count and the halos differ in length; each has one number "
                                 "a dimension"));
    Decomposition result;
    detail::check(shoal_block(comm, static_cast<int>(global.size()), global.data(), first.data(),
                              count.data(), halo_low.empty() ? nullptr : halo_low.data(),
                              halo_high.empty() ? nullptr : halo_high.data(), &result.handle_));
    return result;
  }

  /// A list of cells a rank: the index of each local cell, from 0, row-major in the dimensions before the
  /// last `uncut`, which are not cut; SHOAL_HOLE: no cell. Arrays have the extents [dimensions before
  /// those of the decomposition, length of the list, the `uncut` last]. Collective.
  static Decomposition map(MPI_Comm comm, const std::vector<std::int64_t>& global, const std::int64_t* cells,
                           std::int64_t ncells, int uncut = 0) {
    Decomposition result;
    detail::check(shoal_map(comm, static_cast<int>(global.size()), global.data(), uncut, ncells, cells,
                            &result.handle_));
    return result;
  }
  static Decomposition map(MPI_Comm comm, const std::vector<std::int64_t>& global,
                           const std::vector<std::int64_t>& cells, int uncut = 0) {
    return map(comm, global, cells.data(), static_cast<std::int64_t>(cells.size()), uncut);
  }

  /// The decomposition in a file that save wrote, in one of E3SM's map files (name: "D1") or in PIO's text
  /// form; see shoal_decomposition_load. Collective.
  static Decomposition load(MPI_Comm comm, const std::string& path, const std::string& name = {}) {
    Decomposition result;
    detail::check(shoal_decomposition_load(comm, detail::text(path), detail::text(name), &result.handle_));
    return result;
  }
  /// Save to a NetCDF file, which is replaced if it exists, with the mask. comm: the one this was made with.
  /// Collective.
  void save(MPI_Comm comm, const std::string& path) const {
    detail::check(shoal_decomposition_save(comm, handle_, detail::text(path)));
  }

  /// The same decomposition with a mask: 0 (false) is land, which gets the fill value when a field is
  /// written, unseen, and stays as it is in the array when one is read (setting read_masked). mask: of a
  /// block, the last dimensions of the tile, with or without its halo; of a map, one cell for each in the
  /// list. comm: the one this was made with; see shoal_masked. Collective.
  Decomposition masked(MPI_Comm comm, const ConstArray& mask) const {
    const shoal_array array = mask.c_array();
    Decomposition result;
    detail::check(shoal_masked(comm, handle_, &array, &result.handle_));
    return result;
  }

  /// The same map with each cell once, so that it can be written: of one that comes twice, the lowest rank
  /// keeps its last place, and all others are holes. comm: the one this was made with; see shoal_unique.
  /// Collective.
  Decomposition unique(MPI_Comm comm) const {
    Decomposition result;
    detail::check(shoal_unique(comm, handle_, &result.handle_));
    return result;
  }

  Decomposition(Decomposition&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Decomposition& operator=(Decomposition&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Decomposition(const Decomposition&) = delete;
  Decomposition& operator=(const Decomposition&) = delete;
  ~Decomposition() { shoal_decomposition_free(&handle_); }

  /// Shape of the whole field. Local.
  std::vector<std::int64_t> global() const { return inquire().global; }
  /// First cell of this rank's tile; 0 of a map. Local.
  std::vector<std::int64_t> first() const { return inquire().first; }
  /// Cells of this rank's tile; of a map, the global shape on a rank that has any cell. Local.
  std::vector<std::int64_t> count() const { return inquire().count; }
  /// Halo cells before the tile. Local.
  std::vector<std::int64_t> halo_low() const { return inquire().halo_low; }
  /// Halo cells after the tile. Local.
  std::vector<std::int64_t> halo_high() const { return inquire().halo_high; }

  /// Length and memory of this rank's list of cells. Local.
  MapInfo map_info() const {
    shoal_map_info info = SHOAL_MAP_INFO_INIT;
    detail::check(shoal_decomposition_map_info(handle_, &info));
    return {info.is_map != 0,
            info.uncut,
            info.ncells,
            info.mapped,
            info.runs,
            info.bytes,
            info.repeated,
            {info.repeated_ranks[0], info.repeated_ranks[1]},
            info.leaves_cells != 0};
  }
  /// The list itself; of a block, the cells of its tile, row-major. Local.
  std::vector<std::int64_t> cells() const {
    std::vector<std::int64_t> list(static_cast<std::size_t>(map_info().ncells));
    detail::check(shoal_decomposition_cells(handle_, list.data()));
    return list;
  }

  /// The handle of shoal.h, still owned by this object. Local.
  const shoal_decomposition* c_handle() const noexcept { return handle_; }

 private:
  struct Shapes {
    std::vector<std::int64_t> global, first, count, halo_low, halo_high;
  };
  Decomposition() = default;
  Shapes inquire() const {
    int ndims = 0;
    Shapes s;
    for (auto* list : {&s.global, &s.first, &s.count, &s.halo_low, &s.halo_high})
      list->resize(SHOAL_MAX_DIMS);
    detail::check(shoal_decomposition_inquire(handle_, &ndims, s.global.data(), s.first.data(),
                                              s.count.data(), s.halo_low.data(), s.halo_high.data()));
    for (auto* list : {&s.global, &s.first, &s.count, &s.halo_low, &s.halo_high})
      list->resize(static_cast<std::size_t>(ndims));
    return s;
  }
  shoal_decomposition* handle_ = nullptr;
};

}  // namespace api
}  // namespace shoal
#endif
