// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "driver/driver.hpp"

namespace shoal {

/// An MPI_Info with hints, freed by the destructor. Local.
class MpiInfo {
 public:
  MpiInfo() = default;
  /// Error(setting): a key or value that is longer than MPI allows.
  explicit MpiInfo(const Hints& hints);
  ~MpiInfo();
  MpiInfo(const MpiInfo&) = delete;
  MpiInfo& operator=(const MpiInfo&) = delete;

  MPI_Info get() const { return info_; }
  /// The address for calls of MPI that return an MPI_Info; the present one is freed.
  MPI_Info* out();

 private:
  void release() noexcept;
  MPI_Info info_ = MPI_INFO_NULL;
};

/// Is OMPIO of Open MPI the MPI-IO of this file? It reads wrong data where ranks read the same cells in one
/// collective call (with most of its collective algorithms), and stores wrong data with the hint cb_nodes.
/// Local.
bool is_ompio(const std::string& path);

/// Error(setting): a hint with which the MPI-IO of this file loses data. Call it before anything is done to
/// the file, which need not exist yet. Local, and the same on all ranks.
void refuse_lossy_hints(const std::string& path, const Hints& hints);

/// Notes in the counters which hints the library took, and which it dropped or changed. used: the hints that
/// it reports. Local.
void note_hints(const Hints& hints, const MpiInfo& used, Counters& counters);

/// The same for a library that does not report hints: opens the existing file once more with the hints,
/// through MPI-IO, and asks MPI. Collective.
void ask_mpi_for_hints(const Comm& comm, const std::string& path, const Hints& hints, Counters& counters);

}  // namespace shoal
