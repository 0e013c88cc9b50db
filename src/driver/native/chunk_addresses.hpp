// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <map>
#include <vector>

#include "driver/native/context.hpp"

namespace shoal {

/// Where the bytes of fields lie: rank 0 asks its catalog, the others ask rank 0.
class ChunkAddresses {
 public:
  explicit ChunkAddresses(const NativeContext& context) : context_(context) {}

  /// Of the job's chunks, which get a place if they have none; none for a regular placement. by_message:
  /// ranks need one to learn them, and get them all (collective then); otherwise the owner alone gets them.
  std::vector<std::uint64_t> place(const FieldJob& job, bool by_message);
  /// The same by the owner alone. Local.
  std::vector<std::uint64_t> allocate(const FieldJob& job);

  /// Of chunks as they are in the file. Collective, unless this rank knows them.
  std::vector<std::uint64_t> find(const FieldJob& job);
  std::vector<StoredChunk> find_encoded(const FieldJob& job);
  /// Must the owner be asked in order to read? Local.
  bool asks_owner(const Transfer& transfer) const;
  /// As the owner's catalog has them now. Collective.
  std::vector<StoredChunk> encoded_chunks(int variable, const Box& chunks);

  /// Space at the end of the file for so many bytes of each rank, one rank's behind another's. Collective.
  std::uint64_t take_space(std::uint64_t bytes);
  /// The end of the file is kept in the stage from now on; nullptr: ranks have several, and it is kept here.
  void share_end(std::atomic<std::uint64_t>* of_stage);
  /// The catalog keeps it again.
  void return_end() {
    end_ = &own_end_;
    context_.header.share_end(nullptr);
  }

  /// Fill values go to the cells in the file. addresses: of their chunks; empty: by the placement's rule.
  /// Local.
  void fill_cells(int variable, const Box& cells, const std::vector<std::uint64_t>& addresses);

 private:
  /// Addresses of the chunks of a variable, fetched from the owner for several records at a time.
  struct Found {
    Box chunks;
    std::vector<std::uint64_t> addresses;
    std::vector<StoredChunk> encoded;  ///< in place of addresses
  };
  Box ahead_of(const FieldJob& job, const Box& wanted) const;

  const NativeContext& context_;
  std::map<int, Found> found_;  ///< of files opened for reading, where nothing moves
  std::atomic<std::uint64_t> own_end_ = 0;
  std::atomic<std::uint64_t>* end_ = &own_end_;
};

}  // namespace shoal
