// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {

/// What kind of file system a path (or the folder it will be in) is on.
struct FileSystem {
  /// When the nodes of a machine see what others of them wrote to a file.
  enum class Sharing {
    unknown,
    local,          ///< there is but one node that has it
    coherent,       ///< at once, as if all were on one
    close_to_open,  ///< once the writer flushed or closed the file, and the reader opened it after that
    cached          ///< as the caches of its clients are set; as they usually are, some time later
  };

  std::string type;        ///< "tmpfs", "ext4", "lustre", "gpfs", "nfs", "fuse", "glusterfs", ... or "0x1234"
  std::uint64_t free = 0;  ///< bytes
  Sharing sharing = Sharing::unknown;
  /// Where it can be asked (GlusterFS): the settings of this node's client because of which it is cached.
  std::vector<std::string> caches;
};

/// Asks the system. Local. Error(io, permission) with the path as file.
FileSystem file_system_of(const std::string& path);

/// Is the open file on a file system of user space (FUSE)? Local.
bool is_in_user_space(int descriptor);

/// A file and the device that it is on, in bytes.
struct FreeSpace {
  std::int64_t length = 0;
  std::int64_t stored = 0;  ///< that the device has given to the file
  std::int64_t free = 0;    ///< for anybody
};

/// Asks the system; nothing where it cannot say. Local.
std::optional<FreeSpace> free_space_of(const std::string& path);

/// How drivers ask.
using FreeSpaceFinder = std::function<std::optional<FreeSpace>(const std::string& path)>;

/// How drivers find out; tests give them another one, to see what follows from file systems that are not
/// there.
using FileSystemFinder = std::function<FileSystem(const std::string& path)>;

/// What is known of a kind: by the number that statfs(2) gives and, where the number is FUSE's, which all
/// file systems of user space share, the type of the mount ("fuse.glusterfs"; empty: not known).
FileSystem file_system_of_kind(std::uint64_t magic, const std::string& mount_type = {});
/// By the name of a kind, as in FileSystem::type.
FileSystem file_system_named(const std::string& type);

struct Mount {
  std::string type;   ///< empty: there is none
  std::string point;  ///< the folder that shows the root of the file system; empty: none does
};
/// The mount with this device, in text of the form of /proc/self/mountinfo.
Mount mount_of(std::string_view mountinfo, unsigned major, unsigned minor);

}  // namespace shoal
