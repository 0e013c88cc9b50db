// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace shoal {

/// What ranks have to say before they stop.
struct LastWords {
  std::string message;  ///< this rank's own whole, of the others as much as was sent
  int rank = 0;         ///< the first that said it
  int others = 0;       ///< how many more did
};

/// Ranks come here before they stop, if they fail; others never do. Rank 0 collects what the others say for a
/// short time, and all ranks end by printing what they get, and stopping the job: rank 0 first, the others
/// later and after each other, if nobody stopped them; those that rank 0 heard get nothing to print. Local:
/// nobody waits for a rank that does not come.
std::vector<LastWords> last_words(MPI_Comm comm, const std::string& message);

}  // namespace shoal
