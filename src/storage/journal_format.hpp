// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/hash.hpp"

namespace shoal {

/// The end of a journal. A journal begins at the next page behind the last byte of a file, and has changes
/// and then the trailer. A change: its offset and its length n (8 bytes each), n old bytes, n new bytes. No
/// two overlap, and together they have the first k_journal_start bytes of the file.
struct JournalTrailer {
  static constexpr std::uint64_t k_magic = 0x314c4e4a4c4f4853;  // "SHOLJNL1"

  std::uint64_t magic = k_magic;
  std::uint64_t file_size = 0;     ///< of the file without the journal
  std::uint64_t begin = 0;         ///< of the journal
  std::uint64_t bytes = 0;         ///< of the changes
  std::uint64_t count = 0;         ///< of changes
  std::uint64_t checksum = 0;      ///< of the bytes of the changes
  std::uint64_t own_checksum = 0;  ///< of the words above

  std::uint64_t sum() const {
    Hash hash;
    for (const auto word : {magic, file_size, begin, bytes, count, checksum})
      hash.add(word);
    return hash.value();
  }
};

/// The journal shares no page with the bytes of the file itself.
constexpr std::uint64_t k_journal_page = 4096;
constexpr std::uint64_t journal_begin(std::uint64_t file_size) {
  return (file_size + k_journal_page - 1) / k_journal_page * k_journal_page;
}

constexpr std::size_t k_change_head = 16;      ///< bytes in front of the contents of a change
constexpr std::uint64_t k_journal_start = 64;  ///< bytes of the start of the file that are always in it
constexpr std::uint64_t k_most_journal_bytes = std::uint64_t{256} << 20;  ///< larger ones are no journals
constexpr std::uint64_t k_most_changes = std::uint64_t{4} << 20;

}  // namespace shoal
