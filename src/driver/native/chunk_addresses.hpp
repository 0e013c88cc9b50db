// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <map>
#include <vector>

#include "driver/native/context.hpp"

namespace shoal {

/// The file addresses of the chunks of fields. Rank 0 asks its catalog, other ranks ask rank 0.
class ChunkAddresses {
 public:
  explicit ChunkAddresses(const NativeContext& context) : context_(context) {}

  /// The addresses of the job's chunks; chunks without one get one. Empty for a regular placement.
  /// by_message: the owner sends them to all ranks (Collective then); otherwise the owner alone gets them.
  std::vector<Location> place(const FieldJob& job, bool by_message);
  /// The same on the owner alone. Local.
  std::vector<Location> allocate(const FieldJob& job);

  /// The addresses of chunks in the file, for reading. Collective, unless this rank knows them.
  std::vector<Location> find(const FieldJob& job);
  std::vector<StoredChunk> find_encoded(const FieldJob& job);
  /// Must the owner be asked in order to read? Local.
  bool asks_owner(const Transfer& transfer) const;
  /// Encoded chunks as the owner's catalog has them now. Collective.
  std::vector<StoredChunk> encoded_chunks(int variable, const Box& chunks);

  /// Takes space at the end of the file for so many bytes of each rank, in order of ranks. Returns this
  /// rank's address. Collective.
  std::uint64_t take_space(std::uint64_t bytes);
  /// From now on the end of the file is a word of the stage; nullptr: there are several stages, and it is a
  /// word of this object.
  void share_end(std::atomic<std::uint64_t>* of_stage);
  /// From now on the catalog keeps the end of the file again.
  void return_end() {
    end_ = &own_end_;
    context_.header.share_end(nullptr);
  }

  /// Stores the fill value in the cells. addresses: of their chunks; empty: by the placement's rule. Local.
  void fill_cells(int variable, const Box& cells, const Numbered<Location>& addresses);

 private:
  /// Addresses of the chunks of a variable, fetched from the owner for several records at a time.
  struct Found {
    Box chunks;
    Numbered<Location> addresses;
    Numbered<StoredChunk> encoded;  ///< in place of addresses
  };
  Box ahead_of(const FieldJob& job, const Box& wanted) const;

  const NativeContext& context_;
  std::map<int, Found> found_;  ///< of files opened for reading, where nothing moves
  std::atomic<std::uint64_t> own_end_ = 0;
  std::atomic<std::uint64_t>* end_ = &own_end_;
};

}  // namespace shoal
