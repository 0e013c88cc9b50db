// SPDX-License-Identifier: BSD-3-Clause
#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>

#include "base/error.hpp"
#include "storage/store.hpp"

namespace shoal {
namespace {

struct Kind {
  std::uint64_t magic;
  const char* name;
  bool one_writer_at_a_time;
};

// Numbers from statfs(2), and from the file systems' own documentation for those that are no part of Linux.
// A file system that takes the file's lock for the whole of each buffered write serialises writers of one
// node; Lustre, GPFS and BeeGFS lock ranges of the file.
constexpr std::array k_kinds{
    Kind{0x01021994, "tmpfs", true},     Kind{0x858458f6, "ramfs", true},
    Kind{0xEF53, "ext4", true},  // ext2 and ext3 have the same number
    Kind{0x58465342, "xfs", true},       Kind{0x9123683E, "btrfs", true},
    Kind{0xF2F52010, "f2fs", true},      Kind{0x2FC12FC1, "zfs", false},  // locks ranges
    Kind{0x794C7630, "overlay", true},   Kind{0x6969, "nfs", true},
    Kind{0x65735546, "fuse", true},      Kind{0xFF534D42, "cifs", true},
    Kind{0xFE534D42, "smb", true},       Kind{0x01021997, "9p", false},
    Kind{0x00C36400, "ceph", true},      Kind{0x0BD00BD0, "lustre", false},
    Kind{0x47504653, "gpfs", false},     Kind{0x19830326, "beegfs", false},
    Kind{0x20030528, "orangefs", false},
};

}  // namespace

FileSystem file_system_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path at = fs::absolute(path.empty() ? "." : path, ignored);
  // The file need not exist yet: ask for the nearest folder that does.
  struct statfs status {};
  while (::statfs(at.c_str(), &status) != 0) {
    const int error_number = errno;
    const bool missing = error_number == ENOENT || error_number == ENOTDIR;
    if (error_number == EINTR) continue;
    if (!missing || !at.has_relative_path())
      throw errno_error(error_number, "cannot find out the kind of file system").in_file(path);
    at = at.parent_path();
  }
  FileSystem found;
  found.free = static_cast<std::uint64_t>(status.f_bavail) * static_cast<std::uint64_t>(status.f_bsize);
  // The number is 32 bits wide, and sign-extended on some machines.
  const auto magic = static_cast<std::uint64_t>(static_cast<std::uint32_t>(status.f_type));
  for (const Kind& kind : k_kinds) {
    if (kind.magic != magic) continue;
    found.type = kind.name;
    found.one_writer_at_a_time = kind.one_writer_at_a_time;
    return found;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(magic));
  found.type = text.data();
  return found;
}

}  // namespace shoal
