// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "comm/shared_window.hpp"

namespace shoal {

struct WaitState;

/// An object in which ranks that share memory wait for each other: node collectives, a stage. All is Local.
class WaitPoint {
 public:
  WaitPoint() = default;
  WaitPoint(const WaitPoint&) = delete;
  WaitPoint& operator=(const WaitPoint&) = delete;
  virtual ~WaitPoint() = default;
  /// Steps of this rank here that other ranks wait for, so far.
  virtual std::uint64_t done_here() const = 0;
  /// Is waiting here over for all ranks? Some may not have woken up yet.
  virtual bool is_broken() const = 0;
  /// Ends waiting here: all ranks get an error, this one, or another that a rank gave before; which it
  /// returns. For WaitState::break_off alone, which takes it to all wait points of the same ranks.
  virtual Status break_off(const Status& status) = 0;
  virtual WaitState& wait_state() const = 0;
};

/// The reason why a rank waits: all ranks, or one, are to have done so many steps at a wait point.
struct Awaited {
  std::int64_t wait_point = 0;  ///< its id (SharedWindow::id); 0: the rank does not wait
  std::uint64_t number = 0;     ///< of steps
  int rank = k_all;             ///< of the communicator
  static constexpr int k_all = -1;
};

/// A table in shared memory with one entry for each rank of a communicator: the call that the rank is in, and
/// what it waits for. A rank that waits names the missing ranks and their last calls by it, and ranks that
/// wait for each other at different wait points find that out. Local, but for the constructor.
class ProgressBoard {
 public:
  /// Collective over ranks, which all share memory. Error(no_memory) on all ranks alike.
  explicit ProgressBoard(const Communicator& ranks);
  ~ProgressBoard();
  ProgressBoard(const ProgressBoard&) = delete;
  ProgressBoard& operator=(const ProgressBoard&) = delete;

  /// This rank begins a call: "write (his.nc)". Calls nest.
  void begin_call(const char* name, const std::string& of_what);
  /// Ends the call that was begun last; the call around it is the current one again.
  void end_call();
  /// The current call of this rank; "": none.
  std::string call_under_way() const { return calls_.empty() ? std::string() : calls_.back(); }
  /// This rank is about to begin a call (arrive_at_call, then begin_call); leave_call: it cannot after all.
  void arrive_at_call(const char* name, const std::string& of_what);
  void leave_call();
  /// The last call of a rank: "in write (his.nc)", "after close (his.nc)".
  std::string last_seen(int rank) const;
  /// The name of the call that a rank is in.
  std::string call_of(int rank) const;
  /// Is a rank in a call, and waits for no other rank?
  bool is_at_work(int rank) const;

  void add(std::int64_t wait_point, WaitPoint& here) { wait_points_[wait_point] = &here; }
  void remove(std::int64_t wait_point) { wait_points_.erase(wait_point); }
  void wait_for(const Awaited& awaited);
  void end_wait();
  /// The wait point, other than `here`, where a rank waits for steps that this rank has not done; nullptr:
  /// there is none. While this rank waits here, that one waits in vain. is_missing: does this rank still wait
  /// for it here? Called last, as a rank may have arrived here meanwhile, and begun to wait elsewhere.
  WaitPoint* waits_elsewhere(int rank, std::int64_t here, const std::function<bool()>& is_missing) const;

 private:
  struct Entry;
  Entry& entry(int rank) const;
  SharedWindow window_;
  int rank_;
  std::vector<std::string> calls_;                  ///< of this rank, each within the one before
  std::map<std::int64_t, WaitPoint*> wait_points_;  ///< of this process
};

}  // namespace shoal
