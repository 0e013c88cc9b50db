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

/// Does a file that a library writes by MPI-IO have room on its device? A rank that finds the device full
/// leaves others in their collective call, for ever, and OMPIO says nothing of bytes that are missing. So one
/// rank looks for itself, before and after. All is Local.
class FreeSpaceGuard {
 public:
  /// finds_holes: the file system reports which bytes of a file were never written, and no others
  /// (reports_holes()). find_path: what the file is called now; it may get another name.
  explicit FreeSpaceGuard(std::string path, FreeSpaceFinder find_free_space = free_space_of,
                          bool finds_holes = false, std::function<std::string()> find_path = {})
      : path_(std::move(path)),
        find_free_space_(std::move(find_free_space)),
        finds_holes_(finds_holes),
        find_path_(std::move(find_path)) {}

  /// Error(no_space) if what the file lacks of the cells that it is to have has no room on the device. more:
  /// bytes that are stored next, of which those of `new_cells` are not in the schema yet. With bytes to store
  /// it looks at the device only where that may have been filled since the last time.
  void expect(const Schema& schema, std::int64_t more, std::int64_t new_cells);
  /// All cells of the region are stored before the next check_stored; fill values where nobody has any.
  void note(const Schema& schema, int variable, const Box& region);
  /// They were not all stored, and a failure says so.
  void forget() { noted_.clear(); }
  /// Error(no_space) if cells of the schema, which all were stored, are not on the device. Regions of which
  /// some cells are not there are looked at again each time, until they are.
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
