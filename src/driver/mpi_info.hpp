// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "driver/driver.hpp"

namespace shoal {

/// Hints as an MPI_Info, freed with it. Local.
class MpiInfo {
 public:
  MpiInfo() = default;
  /// Error(setting): a key or value that is longer than MPI allows.
  explicit MpiInfo(const Hints& hints);
  ~MpiInfo();
  MpiInfo(const MpiInfo&) = delete;
  MpiInfo& operator=(const MpiInfo&) = delete;

  MPI_Info get() const { return info_; }
  /// For calls that make one. The one there was is freed.
  MPI_Info* out();

 private:
  void release() noexcept;
  MPI_Info info_ = MPI_INFO_NULL;
};

/// Is the MPI-IO of this file OMPIO of Open MPI? It gives wrong data where ranks read the same cells in one
/// collective call, with most of its ways of collective reading, and stores wrong data with hint cb_nodes.
/// Local.
bool is_ompio(const std::string& path);

/// Error(setting): a hint with which the MPI-IO of this file, which need not exist yet, loses data. To be
/// called before anything is done to the file. Local, and the same on all ranks.
void refuse_lossy_hints(const std::string& path, const Hints& hints);

/// What a library says that it uses, of the hints it was given: counters get those that it took as they were
/// and those that it dropped or changed. Local.
void note_hints(const Hints& hints, const MpiInfo& used, Counters& counters);

/// The same for a library that does not say: the file is opened once more with the hints, through MPI-IO,
/// and MPI is asked. For an existing file. Collective.
void ask_mpi_for_hints(const Comm& comm, const std::string& path, const Hints& hints, Counters& counters);

}  // namespace shoal
