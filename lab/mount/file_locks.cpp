// SPDX-License-Identifier: BSD-3-Clause
#include "mount/file_locks.hpp"

#include <algorithm>

namespace shoal::lab {

std::optional<FileLock> FileLocks::conflict(FileId file, const FileLock& lock) const {
  const auto found = locks_.find(file);
  if (found == locks_.end()) return std::nullopt;
  for (const FileLock& held : found->second) {
    const bool meets = held.range.begin < lock.range.end && lock.range.begin < held.range.end;
    if (meets && held.owner != lock.owner && (held.writes || lock.writes)) return held;
  }
  return std::nullopt;
}

bool FileLocks::take(FileId file, const FileLock& lock) {
  if (conflict(file, lock)) return false;
  unlock(file, lock.owner, lock.range);
  locks_[file].push_back(lock);
  return true;
}

void FileLocks::unlock(FileId file, LockOwner owner, Extent range) {
  const auto found = locks_.find(file);
  if (found == locks_.end()) return;
  std::vector<FileLock> left;
  for (const FileLock& held : found->second) {
    if (held.owner != owner) {
      left.push_back(held);
      continue;
    }
    const std::int64_t cut_begin = std::clamp(range.begin, held.range.begin, held.range.end);
    const std::int64_t cut_end = std::clamp(range.end, cut_begin, held.range.end);
    for (const Extent rest : {Extent{held.range.begin, cut_begin}, Extent{cut_end, held.range.end}}) {
      if (rest.empty()) continue;
      left.push_back(held);
      left.back().range = rest;
    }
  }
  found->second = std::move(left);
  if (found->second.empty()) locks_.erase(found);
}

void FileLocks::drop_handle(FileId file, std::uint64_t handle) {
  const auto found = locks_.find(file);
  if (found == locks_.end()) return;
  std::erase_if(found->second, [&](const FileLock& held) { return held.handle == handle; });
  if (found->second.empty()) locks_.erase(found);
}

}  // namespace shoal::lab
