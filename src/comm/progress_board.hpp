// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/shared_window.hpp"

namespace shoal {

/// An object in which ranks that share memory wait for each other: node collectives, a stage.
/// All is Local.
class WaitPoint {
 public:
  WaitPoint() = default;
  WaitPoint(const WaitPoint&) = delete;
  WaitPoint& operator=(const WaitPoint&) = delete;
  virtual ~WaitPoint() = default;
  /// How many things this rank has done here that others wait for.
  virtual std::uint64_t done_here() const = 0;
  /// Nobody waits here any more, but for ranks that have not woken up yet.
  virtual bool is_broken() const = 0;
  /// Nobody waits here any more: all get an error, with this code and message.
  virtual void break_off(Code code, const std::string& message) = 0;
};

/// What a rank waits for: that all ranks, or one, have done so many steps at a wait point.
struct Awaited {
  std::int64_t wait_point = 0;  ///< its id (SharedWindow::id); 0: the rank does not wait
  std::uint64_t number = 0;
  int rank = k_all;  ///< of the communicator
  static constexpr int k_all = -1;
};

/// Where ranks of a communicator that share memory say what call they are in, and for what they wait. So
/// that who waits can say who is missing and where it was last; and so that ranks that wait for each other,
/// at different places, find out. Local, but for the constructor.
class ProgressBoard {
 public:
  /// Collective over ranks, which all share memory. Error(no_memory) on all of them.
  explicit ProgressBoard(const Comm& ranks);
  ~ProgressBoard();
  ProgressBoard(const ProgressBoard&) = delete;
  ProgressBoard& operator=(const ProgressBoard&) = delete;

  /// This rank begins a call, in words: "write (his.nc)". It may be part of another one.
  void begin_call(const char* name, const std::string& of_what);
  /// The call that was begun last is over, and the one that it was part of goes on.
  void end_call();
  /// That this rank began last and that is not over; "" if there is none.
  std::string call_under_way() const { return calls_.empty() ? std::string() : calls_.back(); }
  /// This rank comes to a call that it will begin, or, if it cannot, to none.
  void arrive_at_call(const char* name, const std::string& of_what);
  void leave_call();
  /// "in write (his.nc)", "after close (his.nc)", of a rank.
  std::string last_seen(int rank) const;
  /// The call that a rank is in.
  std::string call_of(int rank) const;
  /// Is a rank in a call, and waits for nobody?
  bool is_at_work(int rank) const;

  void add(std::int64_t wait_point, WaitPoint& here) { wait_points_[wait_point] = &here; }
  void remove(std::int64_t wait_point) { wait_points_.erase(wait_point); }
  void wait_for(const Awaited& awaited);
  void end_wait();
  /// The wait point where a rank waits for this one, if it is another than `here`, and this rank has not done
  /// there what is waited for; else nullptr. As long as this rank waits itself, that one will. is_missing:
  /// does this rank still wait for it here? Asked last: a rank may have come, gone on and begun to wait
  /// elsewhere since this rank looked.
  WaitPoint* waits_elsewhere(int rank, std::int64_t here, const std::function<bool()>& is_missing) const;

 private:
  struct Entry;
  Entry& entry(int rank) const;
  SharedWindow window_;
  int rank_;
  std::vector<std::string> calls_;                  ///< that this rank is in, each part of the one before
  std::map<std::int64_t, WaitPoint*> wait_points_;  ///< of this process
};

}  // namespace shoal
