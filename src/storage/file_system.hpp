// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {

/// The file system of a path, or of the folder that it will be in.
struct FileSystem {
  /// When a node sees what another node wrote to a file.
  enum class Sharing {
    unknown,
    local,          ///< one node alone has the file system
    coherent,       ///< at once, as on one node
    close_to_open,  ///< after the writer flushed or closed the file, and the reader opened it then
    cached          ///< some time later, as the caches of its clients are set
  };

  std::string type;        ///< "tmpfs", "ext4", "lustre", "gpfs", "nfs", "fuse", "glusterfs", ... or "0x1234"
  std::uint64_t free = 0;  ///< bytes
  Sharing sharing = Sharing::unknown;
  /// The settings of this node's client that make it `cached`, where they are known (GlusterFS).
  std::vector<std::string> caches;
};

/// The file system of a path, as the system says. Local. Error(io, permission) with the path as file.
FileSystem file_system_of(const std::string& path);

/// Is the open file on a file system of user space (FUSE)? Local.
bool is_in_user_space(int descriptor);

/// The size of a file and the free space of its device, in bytes.
struct FreeSpace {
  std::int64_t length = 0;  ///< of the file
  std::int64_t stored = 0;  ///< blocks of the device that the file has
  std::int64_t free = 0;    ///< of the device, for any user
};

/// The free space, as the system says; nothing where it does not. Local.
std::optional<FreeSpace> free_space_of(const std::string& path);

/// Finds free space; tests replace it.
using FreeSpaceFinder = std::function<std::optional<FreeSpace>(const std::string& path)>;

/// Finds the file system of a path; tests replace it, to simulate file systems.
using FileSystemFinder = std::function<FileSystem(const std::string& path)>;

/// The properties of a kind of file system, by the number of statfs(2). All file systems of user space have
/// FUSE's number: then the type of the mount says which it is ("fuse.glusterfs"; empty: not known).
FileSystem file_system_of_kind(std::uint64_t magic, const std::string& mount_type = {});
/// The same by the name of a kind, as in FileSystem::type.
FileSystem file_system_named(const std::string& type);

struct Mount {
  std::string type;   ///< empty: there is no mount
  std::string point;  ///< the folder where the root of the file system is mounted; empty: nowhere
};
/// The mount with this device, in text of the form of /proc/self/mountinfo.
Mount mount_of(std::string_view mountinfo, unsigned major, unsigned minor);

}  // namespace shoal
