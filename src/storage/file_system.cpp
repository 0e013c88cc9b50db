// SPDX-License-Identifier: BSD-3-Clause
#include "storage/file_system.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "storage/gluster.hpp"
#include "storage/remote/remote_path.hpp"

namespace shoal {
namespace {

using Sharing = FileSystem::Sharing;

struct Kind {
  std::uint64_t magic;
  const char* name;
  Sharing sharing;
};

constexpr std::uint64_t k_fuse = 0x65735546;
// Mounts of labfs (lab/) say here which file system they stand for: they are treated as that one.
constexpr std::string_view k_emulated = "fuse.labfs-";

// Numbers from statfs(2), and from the file systems' own documentation for those that are no part of Linux.
constexpr std::array k_kinds{
    Kind{0x01021994, "tmpfs", Sharing::local},
    Kind{0x858458f6, "ramfs", Sharing::local},
    Kind{0xEF53, "ext4", Sharing::local},  // ext2 and ext3 have the same number
    Kind{0x58465342, "xfs", Sharing::local},
    Kind{0x9123683E, "btrfs", Sharing::local},
    Kind{0xF2F52010, "f2fs", Sharing::local},
    Kind{0x2FC12FC1, "zfs", Sharing::local},
    Kind{0x794C7630, "overlay", Sharing::local},
    Kind{0x0BD00BD0, "lustre", Sharing::coherent},
    Kind{0x47504653, "gpfs", Sharing::coherent},
    Kind{0x19830326, "beegfs", Sharing::coherent},
    Kind{0x20030528, "orangefs", Sharing::coherent},
    Kind{0x00C36400, "ceph", Sharing::coherent},
    Kind{0x01161970, "gfs2", Sharing::coherent},
    Kind{0x7461636F, "ocfs2", Sharing::coherent},
    Kind{0x6969, "nfs", Sharing::close_to_open},
    Kind{0x5346414F, "afs", Sharing::close_to_open},
    Kind{0xFF534D42, "cifs", Sharing::cached},
    Kind{0xFE534D42, "smb", Sharing::cached},
    Kind{0x01021997, "9p", Sharing::cached},
    Kind{k_fuse, "fuse", Sharing::cached},
};

struct FuseKind {
  const char* mount_type;
  const char* name;
  Sharing sharing;
};

// File systems of user space that are known; of others nothing is but what FUSE does.
constexpr std::array k_fuse_kinds{
    FuseKind{"fuse.glusterfs", "glusterfs", Sharing::cached},
    FuseKind{"fuse.ceph-fuse", "ceph-fuse", Sharing::coherent},
    FuseKind{"fuse.sshfs", "sshfs", Sharing::cached},
    FuseKind{"fuse.dfuse", "dfuse", Sharing::cached},  // DAOS
    FuseKind{"fuse.daos", "dfuse", Sharing::cached},
    FuseKind{"fuseblk", "fuseblk", Sharing::local},  // a disk of this node
    FuseKind{"virtiofs", "virtiofs", Sharing::cached},
};

FileSystem made(const char* name, Sharing sharing) {
  FileSystem found;
  found.type = name;
  found.sharing = sharing;
  return found;
}

Mount mount_at(const std::filesystem::path& path) {
  struct stat status {};
  std::ifstream in("/proc/self/mountinfo");
  if (!in || ::stat(path.c_str(), &status) != 0) return {};
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return mount_of(text, major(status.st_dev), minor(status.st_dev));
}

// Blanks and the like stand there as \040, in octal.
std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// The number is 32 bits wide, and sign-extended on some machines.
std::uint64_t magic_of(const struct statfs& status) {
  return static_cast<std::uint32_t>(status.f_type);
}

void ask_gluster(FileSystem& found, const std::string& mount_point) {
  if (mount_point.empty()) return;
  const auto caches = gluster_caches(mount_point);
  if (!caches) return;
  found.caches = *caches;
  if (caches->empty()) found.sharing = Sharing::coherent;
}

}  // namespace

FileSystem file_system_of_kind(std::uint64_t magic, const std::string& type_of_mount) {
  if (magic == k_fuse && type_of_mount.starts_with(k_emulated))
    return file_system_named(type_of_mount.substr(k_emulated.size()));
  if (magic == k_fuse)
    for (const auto& kind : k_fuse_kinds)
      if (type_of_mount == kind.mount_type) return made(kind.name, kind.sharing);
  for (const Kind& kind : k_kinds)
    if (kind.magic == magic) return made(kind.name, kind.sharing);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(magic));
  return made(text.data(), Sharing::unknown);
}

FileSystem file_system_named(const std::string& type) {
  for (const auto& kind : k_fuse_kinds)
    if (type == kind.name) return made(kind.name, kind.sharing);
  for (const Kind& kind : k_kinds)
    if (type == kind.name) return made(kind.name, kind.sharing);
  return made(type.c_str(), Sharing::unknown);
}

// A line: number, parent, MAJOR:MINOR, root, mount point, options, any number of tags, "-", TYPE, source, ...
Mount mount_of(std::string_view mountinfo, unsigned major_number, unsigned minor_number) {
  Mount mount;
  const std::string device = fmt::format("{}:{}", major_number, minor_number);
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string number, parent, found, root, point, field;
    fields >> number >> parent >> found >> root >> point;
    if (found != device) continue;
    while (fields >> field && field != "-") {
    }
    if (!(fields >> field)) continue;
    if (mount.type.empty()) mount.type = field;
    if (root == "/") mount.point = unescaped(point);
  }
  return mount;
}

FileSystem file_system_of(const std::string& path) {
  if (is_remote(path)) return made(path.substr(0, path.find(':')).c_str(), Sharing::coherent);
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
  const std::uint64_t magic = magic_of(status);
  const Mount mount = magic == k_fuse ? mount_at(at) : Mount{};
  FileSystem found = file_system_of_kind(magic, mount.type);
  if (found.type == "glusterfs") ask_gluster(found, mount.point);
  found.free = static_cast<std::uint64_t>(status.f_bavail) * static_cast<std::uint64_t>(status.f_bsize);
  return found;
}

bool is_in_user_space(int descriptor) {
  struct statfs status {};
  return ::fstatfs(descriptor, &status) == 0 && magic_of(status) == k_fuse;
}

std::optional<FreeSpace> free_space_of(const std::string& path) {
  constexpr std::int64_t k_block = 512;  // of stat's counts, whatever the file system's are
  struct stat file {};
  struct statfs device {};
  if (::stat(path.c_str(), &file) != 0 || ::statfs(path.c_str(), &device) != 0) return std::nullopt;
  return FreeSpace{static_cast<std::int64_t>(file.st_size),
                   static_cast<std::int64_t>(file.st_blocks) * k_block,
                   static_cast<std::int64_t>(device.f_bavail) * static_cast<std::int64_t>(device.f_bsize)};
}

}  // namespace shoal
