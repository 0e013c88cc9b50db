// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_set>

#include "base/bytes.hpp"

namespace shoal::netcdf4 {

/// Where HDF5 keeps many links or attributes of an object: a fractal heap, and trees of version 2 over it.
/// All of it is looked at before HDF5 reads the first block: where a later one is damaged, HDF5 1.10 gives
/// back memory that it never had, and ends the program. Addresses are of 8 bytes. Source: HDF5 File Format
/// Specification, version 3.0, III.A.2 and III.G. All calls Local.
class DenseStorage {
 public:
  using Read = std::function<void(std::uint64_t address, std::span<std::byte> bytes)>;

  /// base: to be added to addresses in the file; end: of the file; known: addresses of heaps and trees that
  /// were found to be whole, which are not looked at again.
  DenseStorage(std::uint64_t base, std::uint64_t end, const Read& read,
               std::unordered_set<std::uint64_t>& known)
      : base_(base), end_(end), read_(read), known_(known) {}

  /// Error(format): a block of it does not lie in the file, is another, or its checksum differs.
  void heap(std::uint64_t address);
  void tree(std::uint64_t address);

 private:
  struct Heap;
  struct Tree;

  bool is_new(std::uint64_t address) const;
  const Bytes& block(std::uint64_t address, std::uint64_t size, const char* signature);
  void check_sum(std::uint64_t address, std::size_t covered) const;
  void direct_block(const Heap& heap, std::uint64_t address, std::uint64_t size);
  void indirect_block(const Heap& heap, std::uint64_t address, std::uint64_t rows);
  void node(const Tree& tree, std::uint64_t address, std::size_t depth, std::uint64_t records);

  std::uint64_t base_, end_;
  const Read& read_;
  std::unordered_set<std::uint64_t>& known_;
  std::unordered_set<std::uint64_t> seen_;  // blocks: none is there twice
  Bytes bytes_;                             // of the last block
};

}  // namespace shoal::netcdf4
