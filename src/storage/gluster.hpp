// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace shoal {

// GlusterFS has a virtual folder .meta in each mount, with the parts of the client and the options of the
// mount.

/// The caches of a client that hide writes of nodes from each other: keys of the volume that should be off
/// ("performance.write-behind"), and options that the mount should have ("direct-io-mode=enable"). Empty:
/// nodes see each other's writes at once. Nothing: not known. Local.
std::optional<std::vector<std::string>> gluster_caches(const std::filesystem::path& mount_point);

/// Advice for messages on these caches, to follow "To be safe, ".
std::string gluster_advice(const std::vector<std::string>& caches);

}  // namespace shoal
