// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "driver/native/chunk_addresses.hpp"
#include "driver/native/decoded_chunks.hpp"
#include "driver/native/encoder.hpp"
#include "driver/native/path/chunk_order.hpp"
#include "driver/native/path/sending.hpp"
#include "driver/rearrangers.hpp"

namespace shoal {

/// The path of compressed fields whose chunks have cells on several nodes: cells are sent so that one rank
/// has all of a chunk, encodes (decodes) it and stores (fetches) it. The catalog owner gets the addresses.
class ChunkRearranger {
 public:
  ChunkRearranger(const NativeContext& context, ChunkAddresses& addresses, SendBuffers& buffers)
      : context_(context), addresses_(addresses), buffers_(buffers) {}

  /// Collective.
  Status write(const FieldJob& job);
  /// decoded: as for FieldReader. Collective.
  Status read(const FieldJob& job, DecodedChunks* decoded);

  /// The chunks that this rank stored since the last call.
  std::vector<StoredPiece> take_stored() { return std::exchange(stored_, {}); }

 private:
  /// How chunks are put together on ranks: of one decomposition, for one shape of chunks and region.
  struct ChunkPlan {
    std::shared_ptr<const Decomposition> decomposition;
    std::vector<std::int64_t> key;
    std::shared_ptr<const Decomposition> map;
    std::unique_ptr<Rearranger> rearranger;
    bool reported = false;  ///< in the report
  };
  const std::vector<int>& coders();
  ChunkPlan& chunk_plan_of(const FieldJob& job, const ChunkOrder& order, bool more);
  static Transfer in_chunk_order(const FieldJob& job, const ChunkOrder& order, const ChunkPlan& chunk_plan);
  Transfer packed_chunks(const FieldJob& job, const ChunkOrder& order, const ChunkPlan& chunk_plan,
                         Status& status);
  template <class Visit>
  void for_each_chunk(const FieldJob& job, const ChunkOrder& order, const Box& piece, std::byte* cells,
                      Visit&& visit);
  void store_piece(const FieldJob& job, const ChunkOrder& order, const Box& piece, std::byte* cells,
                   Status& status);
  void load_piece(const FieldJob& job, const ChunkOrder& order, const Box& piece, std::byte* cells,
                  DecodedChunks* decoded);
  void clear_piece(const FieldJob& job, const ChunkOrder& order, const Box& piece, std::byte* cells);
  Status read_tiles(const FieldJob& job, DecodedChunks* decoded);
  /// Reads the cells of a tile (row-major, of the variable's type) or of a map. more: with halo.
  Status read_cells(const FieldJob& job, bool more, DecodedChunks* decoded);
  /// The report's line of chunks that were sent, the first time. Collective.
  void report(const FieldJob& job, const ChunkOrder& order, ChunkPlan& chunk_plan);

  const NativeContext& context_;
  ChunkAddresses& addresses_;
  SendBuffers& buffers_;
  std::vector<int> coders_;  ///< the ranks that encode
  CountedMessages messages_;
  std::deque<ChunkPlan> plans_;
  std::map<int, Encoder> encoders_;  ///< by variable
  Bytes encoded_;                    ///< chunks of a piece
  std::uint64_t writes_ = 0;         ///< calls, the same on all ranks
  std::vector<StoredPiece> stored_;
};

}  // namespace shoal
