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
  explicit MpiInfo(const std::vector<std::pair<std::string, std::string>>& hints);
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

/// Does this MPI-IO give wrong data where ranks read the same cells in one collective call? OMPIO of Open MPI
/// does, with most of its ways of collective reading; what it is shows in the hints of an open file. Local.
bool reads_overlaps_wrongly(const MpiInfo& used);
/// The same, of a file that exists: it is opened for it. Collective.
bool reads_overlaps_wrongly(const Comm& comm, const std::string& path);

/// What a library says that it uses, of the hints it was given: counters get those that it took as they were
/// and those that it dropped or changed. Local.
void note_hints(const std::vector<std::pair<std::string, std::string>>& hints, const MpiInfo& used,
                Counters& counters);

/// The same for a library that does not tell: the file is opened once more with the hints, through MPI-IO,
/// and MPI is asked. For an existing file. Collective.
void ask_mpi_for_hints(const Comm& comm, const std::string& path,
                       const std::vector<std::pair<std::string, std::string>>& hints, Counters& counters);

}  // namespace shoal
