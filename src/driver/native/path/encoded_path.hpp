// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "driver/native/path/chunk_rearranger.hpp"
#include "driver/native/path/native_rearrangers.hpp"
#include "driver/native/path/partial_chunk_buffer.hpp"
#include "driver/native/path/staged_path.hpp"

namespace shoal {

/// Compressed variables: ranks encode whole chunks, each a chunk at a time, out of the stage or of cells that
/// others sent, and store them in space that they take from the file's end; the catalog learns of them when
/// ranks complete pending writes.
class EncodedPath {
 public:
  EncodedPath(const NativeContext& context, ChunkAddresses& addresses, const NativeRearrangers& rearrangers,
              StagedPath& staged, SendBuffers& buffers)
      : context_(context),
        addresses_(addresses),
        rearrangers_(rearrangers),
        staged_(staged),
        chunks_(context, addresses, buffers) {}

  /// When the header is open: how much may wait, and be kept.
  void begin();

  /// Error(not_supported): settings or sizes forbid it. The same on all ranks. Local.
  Status check(const FieldJob& job) const;
  /// Must what was written before be in the file, as it must be known before the job is written? The same on
  /// all ranks. Local.
  bool must_complete(const FieldJob& job) const;
  /// Collective over the node; where there are several, over all of them.
  Status write(const FieldJob& job);
  Status read(FieldJob& job);

  /// Parts of chunks that wait for the rest of their cells.
  PartialChunkBuffer& parts() { return *parts_; }
  /// One part of chunks that are not whole; the rest of their cells stays. Collective.
  Status store_part(const Transfer& part);
  /// The catalog learns of the chunks that ranks stored. Collective.
  void enter_stored();
  /// What waits, or was stored and not entered, is given up.
  void clear();

 private:
  Status store_chunks(const FieldJob& job);
  bool sends_cells(const FieldJob& job) const;

  const NativeContext& context_;
  ChunkAddresses& addresses_;
  const NativeRearrangers& rearrangers_;
  StagedPath& staged_;
  ChunkRearranger chunks_;
  std::optional<PartialChunkBuffer> parts_;
  std::optional<DecodedChunks> decoded_;  ///< of this rank, where parts of chunks are read
};

}  // namespace shoal
