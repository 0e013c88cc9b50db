// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "comm/progress_board.hpp"

namespace shoal {

/// What a Comm and those that are made of it have together: how long their ranks wait for each other, and
/// whether some waited in vain, after which nobody waits for anybody. Of one process.
struct WaitState {
  double wait_seconds = 600;             ///< for a rank that does not come
  std::shared_ptr<ProgressBoard> board;  ///< of the ranks that share memory, if these are all
  std::string call;                      ///< that this rank is in, or was last
  int calls = 0;                         ///< it is in so many, each part of the one before
  bool has_matched =
      false;      ///< ranks have matched calls in it, so that they may be late only because they are at work
  Status broken;  ///< what all later calls get
  std::vector<WaitPoint*> wait_points;  ///< where ranks wait

  /// Nobody waits any more, here and, where memory is shared, on other ranks.
  void break_off(const Status& status) {
    broken.merge(status);
    for (WaitPoint* wait_point : wait_points)
      wait_point->break_off(broken.code, broken.message);
  }
};

/// Of those who waited so long in vain; missing: "rank 2, last seen in write (his.nc)".
Status timeout_status(double seconds, const std::string& call, const std::string& missing);

}  // namespace shoal
