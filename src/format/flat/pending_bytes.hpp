// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>

#include "base/bytes.hpp"

namespace shoal {

/// Byte ranges of a file that are to be written later: no two overlap, the last put counts.
class PendingBytes {
 public:
  void put(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Forget what is pending of the range.
  void drop(std::uint64_t offset, std::size_t n);

  /// Is the whole range pending?
  bool covers(std::uint64_t offset, std::size_t n) const;
  /// Copy what is pending of the range over `bytes`; the rest of them stays.
  void overlay(std::uint64_t offset, std::span<std::byte> bytes) const;

  /// Bytes held.
  std::size_t size() const { return size_; }

  using Write = std::function<void(std::uint64_t offset, std::span<const std::byte> bytes)>;
  using Choice = std::function<bool(std::uint64_t offset, std::size_t n)>;
  /// Write the ranges that are chosen, in file order, adjacent ones in one piece, and forget them. What was
  /// not written when `write` throws is kept.
  void flush(const Write& write, const Choice& chosen);

 private:
  std::map<std::uint64_t, Bytes> ranges_;  ///< by first byte
  std::size_t size_ = 0;
};

}  // namespace shoal
