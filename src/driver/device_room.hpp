// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
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
class DeviceRoom {
 public:
  explicit DeviceRoom(std::string path, RoomFinder find_room = room_of)
      : path_(std::move(path)), find_room_(std::move(find_room)) {}

  /// Error(no_space) if what the file lacks of the cells that it is to have has no room on the device. more:
  /// bytes that are stored next, of which those of `new_cells` are not in the schema yet. With bytes to store
  /// it looks at the device only where that may have been filled since the last time.
  void expect(const Schema& schema, std::int64_t more, std::int64_t new_cells);
  /// Error(no_space) if cells of the schema, which all were stored, are not on the device.
  void check_stored(const Schema& schema, const std::vector<Placement>& placements) const;

 private:
  std::string path_;
  RoomFinder find_room_;
  std::int64_t spare_ = 0;      ///< bytes that stay free once the file is whole, when that was looked at
  std::int64_t unchecked_ = 0;  ///< bytes that were stored since
};

}  // namespace shoal
