// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "driver/native/decoded_chunks.hpp"
#include "driver/native/encoder.hpp"
#include "driver/native/stage/slot_generation.hpp"

namespace shoal {

/// Reads a field through the stage: ranks fetch pieces of the region into it, and copy their cells out.
class FieldReader {
 public:
  /// decoded: a cache of chunks, for later reads of their other cells; nullptr: none.
  FieldReader(Stage& stage, NativeFile& file, Counters& counters, DecodedChunks* decoded)
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
  NativeFile& file_;
  Counters& counters_;
  DecodedChunks* decoded_;
  std::optional<Encoder> decoder_;
};

}  // namespace shoal
