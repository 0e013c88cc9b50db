// SPDX-License-Identifier: BSD-3-Clause
#include "storage/holes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace shoal {

bool reports_holes(const std::string& file_system) {
  static constexpr std::array k_known{"tmpfs", "ext4", "xfs", "btrfs"};
  return std::find(k_known.begin(), k_known.end(), file_system) != k_known.end();
}

HoleFinder::HoleFinder(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

HoleFinder::~HoleFinder() {
  if (file_ >= 0) ::close(file_);
}

std::optional<std::uint64_t> HoleFinder::first_in(std::uint64_t begin, std::uint64_t end) {
  if (file_ < 0 || begin >= end) return std::nullopt;
  if (begin < from_ || begin > hole_) {
    const off_t found = ::lseek(file_, static_cast<off_t>(begin), SEEK_HOLE);
    if (found < 0 && errno == ENXIO) return begin;  // behind the end
    if (found < 0) return std::nullopt;
    from_ = begin;
    hole_ = static_cast<std::uint64_t>(found);
  }
  if (hole_ >= end) return std::nullopt;
  return hole_;
}

}  // namespace shoal
