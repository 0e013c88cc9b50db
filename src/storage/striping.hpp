// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace shoal {

/// How Lustre spreads a file over its storage targets; 0: as the folder says.
struct Stripes {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

/// An empty file with these stripes, made by Lustre's program `lfs`; one that is there is replaced, since a
/// file keeps the stripes that it was made with. Empty, or why it cannot be: then nothing was changed. Local.
std::string make_striped_file(const std::string& path, const Stripes& stripes);

/// "lfs setstripe -c 4 -S 1048576 /lustre/run", for messages.
std::string stripe_command(const std::string& path, const Stripes& stripes);

}  // namespace shoal
