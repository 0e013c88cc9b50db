// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <map>
#include <vector>

#include "driver/native/context.hpp"

namespace shoal {

/// Space for chunks of any size that a rank stores one behind the other.
struct SpaceRequest {
  std::uint64_t object = 0;  ///< as chunks are known by (object_of_chunk)
  std::uint64_t bytes = 0;
};

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

  /// Takes space for chunks that each rank stores, in order of ranks. Returns where this rank's go.
  /// Collective.
  std::vector<Location> take_space(const std::vector<SpaceRequest>& mine);
  /// From now on ranks of the node take space by these numbers in the stage.
  void share_space(const SharedSpace& of_stage);
  /// There are several stages: from now on the numbers are the owner's.
  void keep_space();
  /// From now on the catalog keeps the end of the file again.
  void return_space();
  /// The objects that the chunks of the region are stored in are open from now on, on the owner.
  void open_objects(const FieldJob& job);
  /// What was stored is in the catalog; no object is open.
  void close_objects();

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
  std::vector<ObjectEnds::Entry> own_ends_;
  SharedSpace space_{&own_end_, {}};
};

}  // namespace shoal
