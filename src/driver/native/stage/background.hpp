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

/// This rank's thread that stores while the model computes. It has a handle of the file of its own, makes no
/// MPI call and knows nothing of the catalog: what it needs is in the slot generations that are handed to it.
/// Calls are made by one other thread; none of them waits for the store but rest().
class Background {
 public:
  /// Starts the thread. past_cache: it stores past the page cache while nobody waits for it.
  /// Error(no_memory) if the system has none to give.
  Background(Stage& stage, const NativeFile& file, int rank, bool past_cache);
  /// What was handed over and not stored is dropped.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Chunks of the job's variable will come, which go through filters.
  void expect(const FieldJob& job) { storing_.expect(job); }
  /// Of all slot generations, those in which this rank has a part to store; in order.
  void take(std::shared_ptr<const SlotGeneration> generation);
  /// Is it this rank's turn to store the slot generation? Turns go round, so that no rank's model has all the
  /// load.
  bool has_turn(const SlotGeneration& generation) const;

  /// The first failure since rest().
  Status failure() const;
  /// Wait, asleep, until the thread has nothing left to do; then what it counted and what failed is handed
  /// over.
  Status rest(Counters& into);
  /// Nothing is stored any more of what was handed over (the stage is broken), once this returns.
  void drop();
  /// The rest is for a thread that rests: see rest() and drop().
  std::vector<StoredPiece> take_stored() { return storing_.take_stored(); }
  void sync_file() { file_.sync(); }
  void close_file() { file_.close(); }

 private:
  void run();
  bool step(const SlotGeneration& generation, Status& status);

  Stage& stage_;
  Counters counters_;  ///< of the thread
  NativeFile file_;
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
