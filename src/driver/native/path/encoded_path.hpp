// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "driver/native/path/chunk_rearranger.hpp"
#include "driver/native/path/native_rearrangers.hpp"
#include "driver/native/path/partial_chunk_buffer.hpp"
#include "driver/native/path/staged_path.hpp"

namespace shoal {

/// The path of compressed variables. Each rank encodes whole chunks, one at a time, from the stage or from
/// cells that others sent, and stores them in space that it takes at the end of the file. The catalog gets
/// their addresses when ranks complete pending writes.
class EncodedPath {
 public:
  /// Objects that are stored in between two completions of pending writes, in a dataset that has many.
  static constexpr std::int64_t k_most_open = ObjectEnds::k_most;

  EncodedPath(const NativeContext& context, ChunkAddresses& addresses, const NativeRearrangers& rearrangers,
              StagedPath& staged, SendBuffers& buffers)
      : context_(context),
        addresses_(addresses),
        rearrangers_(rearrangers),
        staged_(staged),
        chunks_(context, addresses, buffers) {}

  /// Makes the buffers, when the header is open.
  void begin();

  /// Error(not_supported): settings or sizes forbid it. The same on all ranks. Local.
  Status check(const FieldJob& job) const;
  /// Must earlier writes be in the file, since the job reads chunks before it writes them? The same on all
  /// ranks. Local.
  bool must_complete(const FieldJob& job) const;
  /// Collective over the node; where there are several, over all of them.
  Status write(const FieldJob& job);
  Status read(FieldJob& job);

  /// Parts of chunks that wait for the rest of their cells.
  PartialChunkBuffer& parts() { return *parts_; }
  /// Stores cells of chunks that are not whole; other cells of these chunks keep their values. Collective.
  Status store_part(const Transfer& part);
  /// Gives the catalog the addresses of the chunks that ranks stored. Collective.
  void enter_stored();
  /// Drops parts that wait, and chunks that were stored and not entered.
  void clear();

 private:
  static std::int64_t objects_of(const FieldJob& job);
  static Box objects_in(const FieldJob& job);
  bool stores_again(const FieldJob& job) const;
  Status store_chunks(const FieldJob& job);
  Status store_opened(const FieldJob& job);
  bool sends_cells(const FieldJob& job) const;

  const NativeContext& context_;
  ChunkAddresses& addresses_;
  const NativeRearrangers& rearrangers_;
  StagedPath& staged_;
  ChunkRearranger chunks_;
  std::optional<PartialChunkBuffer> parts_;
  std::int64_t open_objects_ = 0;         ///< since chunks were last entered, at most
  std::vector<std::pair<int, Box>> put_;  ///< objects that were stored as a whole since then: variable, box
  std::optional<DecodedChunks> decoded_;  ///< of this rank, where parts of chunks are read
};

}  // namespace shoal
