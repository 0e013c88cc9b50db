// SPDX-License-Identifier: BSD-3-Clause
#include "storage/object_ends.hpp"

#include "base/error.hpp"

namespace shoal {

namespace {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

std::size_t first_place_of(std::uint64_t object) {
  constexpr std::uint64_t k_golden = 0x9e3779b97f4a7c15;
  constexpr int k_shift = 40;
  return static_cast<std::size_t>((object * k_golden) >> k_shift) % ObjectEnds::k_entries;
}

}  // namespace

ObjectEnds::Entry* ObjectEnds::find(std::uint64_t object) const {
  for (std::size_t i = first_place_of(object);; i = (i + 1) % k_entries) {
    const std::uint64_t there = entries_[i].object.load(std::memory_order_acquire);
    if (there == object) return &entries_[i];
    if (there == 0) return nullptr;
  }
}

void ObjectEnds::open(std::uint64_t object, std::uint64_t target, std::uint64_t end) {
  std::size_t tried = 0;
  for (std::size_t i = first_place_of(object); tried < k_most; i = (i + 1) % k_entries, ++tried) {
    Entry& entry = entries_[i];
    const std::uint64_t there = entry.object.load(std::memory_order_relaxed);
    if (there == object) return;
    if (there != 0) continue;
    entry.target.store(target, std::memory_order_relaxed);
    entry.end.store(end, std::memory_order_relaxed);
    entry.object.store(object, std::memory_order_release);  // last: ranks that find it find the rest
    opened().fetch_add(1, std::memory_order_relaxed);
    return;
  }
  throw Error(Code::internal, "too many objects are open");
}

Location ObjectEnds::take(std::uint64_t object, std::uint64_t bytes) const {
  Entry* const entry = find(object);
  if (entry == nullptr) throw Error(Code::internal, "the object that a chunk belongs to is not open");
  return {entry->target.load(std::memory_order_relaxed), entry->end.fetch_add(bytes)};
}

void ObjectEnds::clear() {
  if (opened().exchange(0, std::memory_order_relaxed) == 0) return;  // the table has many pages
  for (std::size_t i = 0; i < k_entries; ++i)
    entries_[i].object.store(0, std::memory_order_relaxed);
}

}  // namespace shoal
