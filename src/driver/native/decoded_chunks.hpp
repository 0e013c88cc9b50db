// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "storage/location.hpp"

namespace shoal {

/// A cache of decoded chunks, for reads of parts of chunks in a file that is only read. It has at most
/// most_bytes. The chunk that makes room for another is chosen at random, so that some are still there where
/// more chunks than fit are read in turn.
class DecodedChunks {
 public:
  explicit DecodedChunks(std::int64_t most_bytes) : most_bytes_(most_bytes) {}

  bool has(const Location& address) const { return places_.contains(address); }
  /// The chunk at an address; nullptr: it is not kept. Valid until the next call of keep.
  const Bytes* find(const Location& address) const {
    const auto at = places_.find(address);
    return at == places_.end() ? nullptr : &kept_[at->second].second;
  }
  void keep(const Location& address, std::span<const std::byte> chunk) {
    const auto size = static_cast<std::int64_t>(chunk.size());
    if (size > most_bytes_ || has(address)) return;
    while (bytes_ + size > most_bytes_)
      drop_one();
    kept_.emplace_back(address, Bytes(chunk.begin(), chunk.end()));
    places_[address] = kept_.size() - 1;
    bytes_ += size;
  }

 private:
  void drop_one() {
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX
    const auto at = static_cast<std::size_t>((random_ >> 33) % kept_.size());
    bytes_ -= static_cast<std::int64_t>(kept_[at].second.size());
    places_.erase(kept_[at].first);
    if (at + 1 != kept_.size()) {
      kept_[at] = std::move(kept_.back());
      places_[kept_[at].first] = at;
    }
    kept_.pop_back();
  }

  std::int64_t most_bytes_, bytes_ = 0;
  std::vector<std::pair<Location, Bytes>> kept_;
  std::unordered_map<Location, std::size_t> places_;
  std::uint64_t random_ = 0;
};

}  // namespace shoal
