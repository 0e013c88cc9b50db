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

/// A place where ranks that share memory wait for each other: node collectives, a stage. Local, all of it.
class Place {
 public:
  Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  virtual ~Place() = default;
  /// How many things this rank has done here that others wait for.
  virtual std::uint64_t done_here() const = 0;
  /// Nobody waits here any more, but for ranks that have not woken up yet.
  virtual bool is_broken() const = 0;
  /// Nobody waits here any more: all get an error, with this code and message.
  virtual void break_off(Code code, const std::string& message) = 0;
};

/// What a rank waits for: that all ranks, or one, have done so many things at a place.
struct Awaited {
  std::int64_t place = 0;  ///< its id (SharedWindow::id); 0: the rank does not wait
  std::uint64_t number = 0;
  int rank = k_all;  ///< of the communicator
  static constexpr int k_all = -1;
};

/// Where ranks of a communicator that share memory say what call they are in, and for what they wait. So
/// that who waits can say who is missing and where it was last; and so that ranks that wait for each other,
/// at different places, find out. Local, but for the constructor.
class Board {
 public:
  /// Collective over ranks, which all share memory. Error(no_memory) on all of them.
  explicit Board(const Comm& ranks);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  /// This rank begins a call, in words: "write (his.nc)". It may be part of another one.
  void begin_call(const char* name, const std::string& of_what);
  /// The call that was begun last is over, and the one that it was part of goes on.
  void end_call();
  /// That this rank began last and that is not over; "" if there is none.
  std::string call_under_way() const { return calls_.empty() ? std::string() : calls_.back(); }
  /// This rank comes to a call that it will begin, or, if it cannot, to none.
  void come_to_call(const char* name, const std::string& of_what);
  void come_to_none();
  /// "in write (his.nc)", "after close (his.nc)", of a rank.
  std::string last_seen(int rank) const;
  /// The call that a rank is in.
  std::string call_of(int rank) const;
  /// Is a rank in a call, and waits for nobody?
  bool is_at_work(int rank) const;

  void enter(std::int64_t place, Place& here) { places_[place] = &here; }
  void leave(std::int64_t place) { places_.erase(place); }
  void wait_for(const Awaited& awaited);
  void go_on();
  /// The place where a rank waits for this one, if it is another than `here`, and this rank has not done
  /// there what is waited for; else nullptr. As long as this rank waits itself, that one will. is_missing:
  /// does this rank still wait for it here? Asked last: a rank may have come, gone on and begun to wait
  /// elsewhere since this rank looked.
  Place* waits_elsewhere(int rank, std::int64_t here, const std::function<bool()>& is_missing) const;

 private:
  struct Entry;
  Entry& entry(int rank) const;
  SharedWindow window_;
  int rank_;
  std::vector<std::string> calls_;         ///< that this rank is in, each part of the one before
  std::map<std::int64_t, Place*> places_;  ///< of this process
};

}  // namespace shoal
