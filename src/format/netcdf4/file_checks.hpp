// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "base/bytes.hpp"
#include "storage/store.hpp"

namespace shoal::netcdf4 {

/// What is looked at of an HDF5 file before the HDF5 library acts on it. The library trusts what carries no
/// checksum in the file: with a damaged one it would end the program, or never come back. All calls Local.
class FileChecks {
 public:
  /// Reads bytes of the file as HDF5 sees it.
  using Read = std::function<void(std::uint64_t address, std::span<std::byte> bytes)>;

  /// The superblock, where `file` begins with it or with a block of the user's own. Error(format): HDF5 could
  /// make nothing of it, or not what it says. Error(not_supported): addresses are of a size nobody uses.
  void superblock(Store& file);

  /// HDF5 has read these bytes of values, or of the heap of strings and lists. Error(format): a collection of
  /// the heap begins there that is damaged. end: of the file.
  void heap(std::uint64_t address, std::span<const std::byte> bytes, std::uint64_t end,
            const Read& read) const;
  /// The same for a tree that says where chunks or links are. Error(format): it is damaged, or leads in a
  /// circle. For files that nobody changes.
  void tree(std::uint64_t address, std::span<const std::byte> bytes, std::uint64_t end);
  /// The same for the header of an object, with all blocks that it goes on in. Error(format): one is cut off,
  /// or its checksum differs. HDF5 finds that too, but keeps memory of its own then for ever, and complains
  /// of it when the program ends ("infinite loop closing library"). whole: also with all blocks that have its
  /// links and attributes, where there are many (DenseStorage); for files that nobody changes.
  void object_header(std::uint64_t address, std::span<const std::byte> bytes, std::uint64_t end,
                     const Read& read, bool whole);
  /// The file changes: what is known of its structures need not be so any more.
  void forget();

  /// How a string or list of variable length lies in its variable: k_reference bytes a cell.
  static constexpr std::size_t k_reference = 16;
  /// Error(format): one of them leads nowhere. element: of a list, in bytes.
  void references(std::span<const std::byte> cells, std::size_t element, std::uint64_t end, const Read& read);

 private:
  using Objects = std::map<std::uint32_t, std::uint64_t>;  // number -> bytes
  static void object_block(std::uint64_t address, std::uint64_t size, std::uint64_t end, const Read& read,
                           Bytes& bytes);
  Objects objects_of(std::uint64_t address, std::uint64_t end, const Read& read) const;

  std::uint64_t base_ = 0;                         ///< in front of all addresses: a block of the user's own
  bool usual_ = true;                              ///< addresses and sizes of 8 bytes
  std::unordered_map<std::uint64_t, int> levels_;  ///< of nodes of trees that others lead to
  std::unordered_map<std::uint64_t, Objects> known_;  ///< collections that strings led to
  std::unordered_set<std::uint64_t> whole_;           ///< heaps and trees of links and attributes
};

}  // namespace shoal::netcdf4
