// SPDX-License-Identifier: BSD-3-Clause
#include "mount/backing.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace shoal::lab {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Backing::Backing(const std::string& folder) {
  Node root;
  root.file = Descriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.file.valid())
    throw std::runtime_error("cannot open the folder " + folder + ": " + std::strerror(errno));
  root.lookups = 1;
  nodes_.emplace(k_root, std::move(root));
}

int Backing::look_up(FileId folder, const char* name, FileId& file, struct stat& status) {
  Descriptor found(::openat(descriptor(folder), name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!found.valid()) return errno;
  if (::fstat(found.number(), &status) != 0) return errno;
  file = status.st_ino;
  Node& node = nodes_[file];
  if (!node.file.valid()) node.file = std::move(found);
  node.folder = folder;
  ++node.lookups;
  return 0;
}

void Backing::forget(FileId file, std::uint64_t lookups) {
  const auto found = nodes_.find(file);
  if (found == nodes_.end() || file == k_root) return;
  found->second.lookups -= std::min(lookups, found->second.lookups);
  if (found->second.lookups == 0) nodes_.erase(found);
}

int Backing::status(FileId file, struct stat& status) {
  if (::fstat(descriptor(file), &status) != 0) return errno;
  if (file == k_root) status.st_ino = k_root;
  return 0;
}

FileId Backing::number_of(FileId folder, const char* name) {
  struct stat status {};
  return ::fstatat(descriptor(folder), name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_ino : 0;
}

}  // namespace shoal::lab
