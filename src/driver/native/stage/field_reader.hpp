// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "driver/native/decoded_chunks.hpp"
#include "driver/native/encoder.hpp"
#include "driver/native/stage/slot_generation.hpp"

namespace shoal {

/// Reads a field through the stage: ranks fetch pieces of the region into it, and copy their cells out. Each
/// byte is copied twice, one copy of which stays in the caches. Own rows straight into the array, and those
/// of others into the slot (preadv), take 9 to 20 % longer for rows of up to 2.6 KB: each piece of a list
/// costs the kernel 60 to 90 ns, and its copy to memory that is not in cache is slow where address and offset
/// differ modulo 64, as they do for rows of a model's array (docs/figures/reading.csv). Slower, of the speed
/// of one block of each rank: maps of the file 0.7 (page faults) and 0.4 (pages of each MiB at once), all
/// columns of its rows by each rank 0.6, its own rows alone 0.28. Stores past the caches, and fetching the
/// target's lines ahead, gain nothing.
class FieldReader {
 public:
  /// decoded: a cache of chunks, for later reads of their other cells; nullptr: none.
  FieldReader(Stage& stage, ObjectFiles& file, Counters& counters, DecodedChunks* decoded)
      : stage_(stage), file_(file), counters_(counters), decoded_(decoded) {}
  /// Collective over the node; nothing may be under way for writing.
  Status read(const FieldJob& job);

 private:
  std::vector<SlotGeneration> describe(const FieldJob& job);
  std::optional<std::uint32_t> claim_decoded(const SlotGeneration& generation);
  void fetch(const SlotGeneration& generation, std::uint32_t share, const Bytes& fill);
  void decode(const SlotGeneration& generation, const StagedPiece& staged);
  ConversionErrors unpack(const FieldJob& job, const SlotGeneration& generation);

  Stage& stage_;
  ObjectFiles& file_;
  Counters& counters_;
  DecodedChunks* decoded_;
  std::optional<Encoder> decoder_;
};

}  // namespace shoal
