// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "driver/native/encoder.hpp"
#include "driver/native/stage/slot_generation.hpp"

namespace shoal {

/// Stores slot generations share by share, through filters where they are encoded. Makes no call of MPI. For
/// one thread at a time, but for expect().
class Storing {
 public:
  /// rank: this one's number, for messages.
  Storing(Stage& stage, ObjectFiles& file, Counters& counters, int rank)
      : stage_(stage), file_(file), counters_(counters), rank_(rank) {}

  /// Makes the encoder of the job's variable, for chunks that will follow. By any thread.
  void expect(const FieldJob& job);
  /// Stores a share of a slot generation at which all ranks have arrived, and frees the slot if it was the
  /// last share. False: there is none for this rank. limited: only while fewer than `writers` ranks store.
  bool store_share(const SlotGeneration& generation, bool limited, Status& status);
  /// The encoded chunks that were stored since the last call.
  std::vector<StoredPiece> take_stored() { return std::exchange(stored_, {}); }

 private:
  void check_fingerprints(std::uint64_t generation) const;
  void store_plain(const SlotGeneration& generation, std::uint32_t share);
  void store_encoded(const SlotGeneration& generation, const StagedPiece& staged);
  Encoder& encoder_of(int variable);
  void encode(Encoder& encoder, const SlotGeneration& generation, const StagedPiece& staged);

  Stage& stage_;
  ObjectFiles& file_;
  Counters& counters_;
  int rank_;
  std::mutex mutex_;                 ///< of the list of encoders, not of what is in it
  std::map<int, Encoder> encoders_;  ///< by variable
  std::vector<StoredPiece> stored_;
};

}  // namespace shoal
