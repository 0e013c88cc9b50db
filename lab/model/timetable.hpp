// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <map>

#include "model/units.hpp"

namespace shoal::lab {

/// When something that serves one request at a time is busy. A request gets the first free time from its
/// arrival on, in parts where there are gaps, so that nothing idles while somebody waits.
class Timetable {
 public:
  struct Booking {
    Seconds begin;
    Seconds end;
  };
  /// Arrivals may come in any order. Nothing is remembered of the time before the last 256 busy intervals; it
  /// counts as busy.
  Booking book(Seconds arrival, Seconds duration);
  /// Out of service; what was booked before stays.
  void block(Seconds begin, Seconds end) { occupy(begin, end); }

 private:
  void occupy(Seconds begin, Seconds end);

  std::map<Seconds, Seconds> busy_;  ///< begin, end; they do not touch
  Seconds forgotten_ = -std::numeric_limits<Seconds>::infinity();
};

}  // namespace shoal::lab
