// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

/// How Lustre spreads a file over its storage targets; 0: as the folder says.
struct Stripes {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

/// Names that Lustre's library has for the loader.
inline const std::vector<std::string> k_lustre_libraries{"liblustreapi.so.1", "liblustreapi.so"};

/// An empty file with these stripes, made by Lustre's library or, where the loader finds none of these, by
/// its program `lfs`; a file that is there is replaced, since it keeps the stripes that it was made with.
/// Empty, or why it cannot be: then nothing was changed. Local.
std::string make_striped_file(const std::string& path, const Stripes& stripes,
                              const std::vector<std::string>& libraries = k_lustre_libraries);

/// Of a file that is there, as Lustre says them in an extended attribute; 0 where it has none. Local.
Stripes stripes_of_file(const std::string& path);

/// "lfs setstripe -c 4 -S 1048576 /lustre/run", for messages.
std::string stripe_command(const std::string& path, const Stripes& stripes);

}  // namespace shoal
