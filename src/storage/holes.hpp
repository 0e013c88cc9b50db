// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace shoal {

/// Does a file system of this type (FileSystem::type) report as holes exactly the bytes of a file that were
/// never written? Some make holes of zeros that were written, or see only what reached the device.
bool reports_holes(const std::string& file_system);

/// Finds bytes of a file that were never written (lseek with SEEK_HOLE). All is Local.
class HoleFinder {
 public:
  explicit HoleFinder(const std::string& path);
  HoleFinder(const HoleFinder&) = delete;
  HoleFinder& operator=(const HoleFinder&) = delete;
  ~HoleFinder();

  /// The first of the bytes from `begin` to before `end` that was never written, or is behind the end of the
  /// file; nothing if there is none, or where the system cannot say.
  std::optional<std::uint64_t> first_in(std::uint64_t begin, std::uint64_t end);

 private:
  int file_ = -1;
  std::uint64_t from_ = 1, hole_ = 0;  ///< hole_ is the first hole from from_ on
};

}  // namespace shoal
