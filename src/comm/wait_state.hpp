// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "comm/progress_board.hpp"

namespace shoal {

/// The state of waiting that a Comm shares with the Comms made of it: how long ranks wait for each other, and
/// whether a rank waited in vain, after which none waits any more. One object in each process.
struct WaitState {
  double wait_seconds = 600;             ///< until a missing rank is an error
  std::shared_ptr<ProgressBoard> board;  ///< of the ranks that share memory, if these are all
  std::string call;                      ///< the current or last call of this rank
  int calls = 0;                         ///< how many calls this rank is in, one within another
  /// Ranks have matched calls in the current one: a missing rank may be late only because it is at work.
  bool has_matched = false;
  Status broken;                        ///< not ok: the error of all later calls
  std::vector<WaitPoint*> wait_points;  ///< where ranks wait

  /// Ends all waiting, here and, where memory is shared, on other ranks. Of errors that ranks give at the
  /// same time one counts: the first one at the first wait point, which all ranks made first. All ranks that
  /// share memory get it, now and later; it is returned.
  const Status& break_off(const Status& status) {
    Status first = broken.ok() ? status : broken;
    for (WaitPoint* wait_point : wait_points)
      first = wait_point->break_off(first);
    broken.merge(first);
    return broken;
  }
};

/// The error of ranks that waited so long in vain. missing: "rank 2, last seen in write (his.nc)".
Status timeout_status(double seconds, const std::string& call, const std::string& missing);

}  // namespace shoal
