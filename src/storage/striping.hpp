// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

/// The stripes of a file on Lustre: over how many storage targets, and how long; 0: as the folder says.
struct Stripes {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

/// Names of Lustre's library, as dlopen takes them.
inline const std::vector<std::string> k_lustre_libraries{"liblustreapi.so.1", "liblustreapi.so"};

/// Makes an empty file with these stripes, by Lustre's library or, where the loader finds none of these, by
/// its program `lfs`. A file that is there is replaced, since a file keeps the stripes that it was made with.
/// Returns "", or the reason why it could not: then nothing was changed. Local.
std::string make_striped_file(const std::string& path, const Stripes& stripes,
                              const std::vector<std::string>& libraries = k_lustre_libraries);

/// The stripes of an existing file, from Lustre's extended attribute; 0 where it has none. Local.
Stripes stripes_of_file(const std::string& path);

/// The command for messages: "lfs setstripe -c 4 -S 1048576 /lustre/run".
std::string stripe_command(const std::string& path, const Stripes& stripes);

}  // namespace shoal
