// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace shoal {

// GlusterFS shows in the virtual folder .meta of a mount what its client is made of and how it was mounted.

/// What of a client keeps bytes, sizes or names that other nodes change, or holds back what they should see:
/// keys of the volume that should be off ("performance.write-behind"), and options that the mount should have
/// ("direct-io-mode=enable"). Empty: nodes see each other's writes at once. Nothing: it could not be found
/// out. Local.
std::optional<std::vector<std::string>> gluster_caches(const std::filesystem::path& mount_point);

/// What to do about them, in words that go on after "To be safe, ".
std::string gluster_advice(const std::vector<std::string>& caches);

}  // namespace shoal
