// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "format/placement.hpp"
#include "format/schema.hpp"
#include "storage/file_system.hpp"

namespace shoal {

/// Checks of the free space of a device for a file that a library writes by MPI-IO, made by one rank before
/// and after writes: a rank that finds the device full leaves the others forever in their collective call,
/// and OMPIO may report no error where bytes had no room. All is Local.
class FreeSpaceGuard {
 public:
  /// finds_holes: the file system reports exactly the bytes of a file that were never written
  /// (reports_holes()). find_path: the current name of the file, which may be renamed.
  explicit FreeSpaceGuard(std::string path, FreeSpaceFinder find_free_space = free_space_of,
                          bool finds_holes = false, std::function<std::string()> find_path = {})
      : path_(std::move(path)),
        find_free_space_(std::move(find_free_space)),
        finds_holes_(finds_holes),
        find_path_(std::move(find_path)) {}

  /// Error(no_space) if the device has no room for the cells that the file still lacks. more: bytes to be
  /// stored next; new_cells: of these, the bytes that are not in the schema yet. Where more > 0, the device
  /// is asked only if it may have been filled since the last time.
  void expect(const Schema& schema, std::int64_t more, std::int64_t new_cells);
  /// Notes a region all cells of which are stored before the next check_stored, fill values included.
  void note(const Schema& schema, int variable, const Box& region);
  /// Forgets the noted regions, where a failure was reported.
  void forget() { noted_.clear(); }
  /// Error(no_space) if cells that were stored are not on the device. Regions with missing cells are checked
  /// again each time, until all cells are there.
  void check_stored(const Schema& schema, const std::vector<Placement>& placements);

 private:
  struct Region {
    int variable = 0;
    Box cells;
  };

  void check_sizes(const Schema& schema, const std::vector<Placement>& placements) const;
  void check_holes(const Schema& schema, const std::vector<Placement>& placements);

  std::string path_;
  FreeSpaceFinder find_free_space_;
  bool finds_holes_;
  std::function<std::string()> find_path_;
  std::vector<Region> noted_;    ///< since the last check
  std::vector<Region> missing_;  ///< found to have holes
  std::int64_t spare_ = 0;       ///< bytes that stay free once the file is whole, when that was looked at
  std::int64_t unchecked_ = 0;   ///< bytes that were stored since
};

}  // namespace shoal
