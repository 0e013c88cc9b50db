// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "driver/native/stage/storing.hpp"

namespace shoal {

/// A thread of this rank that stores while the model computes. It has a handle of the file of its own, makes
/// no call of MPI and does not use the catalog: the slot generations handed to it have all it needs. One
/// other thread makes the calls; none of them waits for the thread but rest() and drop().
class Background {
 public:
  /// Starts the thread. past_cache: it stores past the page cache while no rank waits for it.
  /// Error(no_memory): the system has no thread.
  Background(Stage& stage, const ObjectFiles& file, int rank, bool past_cache);
  /// Drops slot generations that are not stored.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Storing::expect.
  void expect(const FieldJob& job) { storing_.expect(job); }
  /// Hands over a slot generation of which this rank stores a part; in order.
  void take(std::shared_ptr<const SlotGeneration> generation);
  /// Is it this rank's turn to store the slot generation? Turns go round, so that the load is even.
  bool has_turn(const SlotGeneration& generation) const;

  /// The first failure since rest().
  Status failure() const;
  /// Waits, asleep, until the thread has nothing left to do; then adds its counters and returns its failure.
  Status rest(Counters& into);
  /// Drops what was handed over, as the stage is broken. When this returns the thread stores nothing any
  /// more.
  void drop();
  // From here on: only after rest() or drop().
  std::vector<StoredPiece> take_stored() { return storing_.take_stored(); }
  void sync_file() { file_.sync(); }
  void close_file() { file_.close(); }
  void note_committed() { file_.note_committed(); }

 private:
  void run();
  bool step(const SlotGeneration& generation, Status& status);

  Stage& stage_;
  Counters counters_;  ///< of the thread
  ObjectFiles file_;
  Storing storing_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<const SlotGeneration>> queue_;
  Status status_;
  bool busy_ = false;
  bool stop_ = false;
  bool past_cache_;
  std::int64_t unsent_ = 0;            ///< bytes stored since the system was asked to send them on
  std::atomic<bool> dropped_ = false;  ///< the thread need not wait for its turn any more
  std::thread thread_;                 ///< last: it uses all of the above
};

}  // namespace shoal
