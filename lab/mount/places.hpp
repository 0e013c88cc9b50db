// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace shoal::lab {

/// What one run of labfs has made in the file system of the machine, and removes.
struct Places {
  std::vector<std::filesystem::path> mounts;   ///< one for each client
  std::vector<std::filesystem::path> folders;  ///< made by labfs, in that order
  std::filesystem::path link;                  ///< DIR/bytes, made by labfs: leads to `backing`; or none
  std::filesystem::path backing;               ///< where the bytes lie
  bool backing_is_ours = false;                ///< and goes with the run

  /// Makes DIR/0 to DIR/N-1, DIR/here, and the link DIR/bytes, if that is not `backing` itself. An empty
  /// `backing`: a new folder in /dev/shm, or in the temporary folder where that is none. Error
  /// std::runtime_error: what could not be made; then nothing is left of it.
  static Places make(const std::filesystem::path& dir, int clients, const std::filesystem::path& backing);
  /// Unmounts what is still mounted, and removes what was made. Goes on after a failure.
  void remove() const;
};

/// The folder in which every client's mount can be put for one program (see `enter`).
std::filesystem::path common_place(const std::filesystem::path& dir);

/// A link to the folder where the bytes lie, for programs that look at files past the mounts.
std::filesystem::path bytes_link(const std::filesystem::path& dir);

struct FoundMount {
  std::filesystem::path place;
  std::filesystem::path backing;
  bool served = false;  ///< a daemon answers
};
/// labfs's mounts right below a folder.
std::vector<FoundMount> find_mounts(const std::filesystem::path& dir);

/// Unmounts what nobody serves below a folder, and removes the folders of bytes of runs that are no more. How
/// many mounts are served and stay.
int clean(const std::filesystem::path& dir);

/// Empty, or why this machine cannot mount, and what follows.
std::string why_no_mounts();

}  // namespace shoal::lab
