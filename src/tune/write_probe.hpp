// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "comm/nodes.hpp"
#include "storage/striping.hpp"

namespace shoal {

/// One way of writing that is measured.
struct WriteProbe {
  int nodes = 1;    ///< the first of them
  int writers = 1;  ///< the first ranks of each
  std::int64_t call_bytes = 0;
  bool unaligned = false;    ///< offsets are no multiples of anything
  bool in_turns = false;     ///< writers take turns in the file; otherwise each has a part of its own
  bool own_files = false;    ///< each writer has a file
  bool sync = false;         ///< until the device has the bytes
  std::int64_t stripes = 0;  ///< of the file; 0: as the folder is set
};

/// Files of probes in one folder. They have no name while they are written, where nodes can do without one,
/// so that a job that is killed leaves none.
class ProbeFolder {
 public:
  /// Removes what a killed job left an hour ago or earlier. keep_names: nodes find a file by its name alone.
  /// Collective.
  ProbeFolder(const Comm& comm, const Nodes& nodes, std::string folder, bool keep_names);

  /// Bytes a second of all writers: each writes bytes (whole calls, one at least), or as much as it can in
  /// the seconds. Error on all ranks alike. Collective.
  double rate_of(const WriteProbe& probe, std::int64_t bytes, Seconds seconds) const;

  /// Seconds of one create and one open of a file, and of an fsync with nothing to send; of rank 0.
  /// Collective.
  struct Calls {
    Seconds create = 0, open = 0, sync = 0;
  };
  Calls calls() const;

  /// As new files have them, as rank 0 sees them. Collective.
  Stripes usual_stripes() const;
  /// Can files get so many stripes? Collective.
  bool can_stripe(std::int64_t stripes) const;

 private:
  std::string path_of(int number) const;

  const Comm& comm_;
  const Nodes& nodes_;
  std::string folder_;
  std::string prefix_;  ///< of all paths, another one in each job
  bool keep_names_;
};

}  // namespace shoal
