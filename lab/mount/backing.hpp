// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>

#include <string>
#include <unordered_map>

#include "model/units.hpp"

namespace shoal::lab {

/// A descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  int number() const { return number_; }
  bool valid() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

/// The folder in which the bytes lie, and the files of it that some mount knows. Files have the numbers of
/// their inodes, the root has 1, as FUSE wants it. One descriptor is kept for each known file.
class Backing {
 public:
  static constexpr FileId k_root = 1;

  struct Node {
    Descriptor file;  ///< O_PATH
    std::uint64_t lookups = 0;
    FileId folder = k_root;  ///< in which it was found last
    int handles = 0;         ///< open ones
  };

  /// Error std::runtime_error: the folder cannot be opened.
  explicit Backing(const std::string& folder);

  /// Finds a name, and counts one more look-up. 0, or errno.
  int look_up(FileId folder, const char* name, FileId& file, struct stat& status);
  /// The mounts have forgotten so many look-ups.
  void forget(FileId file, std::uint64_t lookups);
  Node& node(FileId file) { return nodes_.at(file); }
  int descriptor(FileId file) { return node(file).file.number(); }
  bool knows(FileId file) const { return nodes_.count(file) > 0; }
  /// For system calls that take a path and follow it.
  std::string path(FileId file) { return "/proc/self/fd/" + std::to_string(descriptor(file)); }
  int status(FileId file, struct stat& status);
  /// The file that has this name now; 0: none.
  FileId number_of(FileId folder, const char* name);

 private:
  std::unordered_map<FileId, Node> nodes_;
};

}  // namespace shoal::lab
