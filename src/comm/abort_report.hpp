// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace shoal {

/// The message of ranks that stop the job.
struct AbortReport {
  std::string message;  ///< of this rank whole, of others the first 1500 bytes
  int rank = 0;         ///< the first rank with this message
  int others = 0;       ///< how many more ranks have it
};

/// The reports that this rank is to print before it stops the job (MPI_Abort). Called by ranks that fail;
/// others never call it. Rank 0 collects reports for a second at most and returns them. Other ranks return
/// later and one after another, in case the job was not stopped by then: with their own report, or with
/// none if rank 0 has it. Local: no rank waits for one that does not arrive.
std::vector<AbortReport> collect_abort_reports(MPI_Comm comm, const std::string& message);

}  // namespace shoal
