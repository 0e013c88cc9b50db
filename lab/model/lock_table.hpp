// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <vector>

#include "model/interval_set.hpp"
#include "model/parameters.hpp"

namespace shoal::lab {

/// Who may keep pages of which bytes, of one file or one object. A client keeps a lock until another one
/// needs the bytes for what excludes it: several may read, one may write.
class LockTable {
 public:
  enum class Mode { read, write };
  struct Revocation {
    ClientId holder;
    std::vector<Extent> lost;
  };
  struct Grant {
    bool held = false;  ///< the client had it already; then nothing else is told
    std::vector<Revocation> revocations;
  };

  /// The client gets the lock; others lose theirs at once, in this table.
  Grant acquire(ClientId client, Extent extent, Mode mode, const LockParameters& parameters);
  bool holds(ClientId client, Extent extent, Mode mode) const;

  /// The client's last lock came at `from`, and it is in use until `until`: only then can it be given up.
  struct Use {
    Seconds from = 0;
    Seconds until = 0;
  };
  Use& use(ClientId client) { return clients_[client].use; }

 private:
  struct Held {
    IntervalSet reads;
    IntervalSet writes;
    Use use;
    std::int64_t at_work = 0;  ///< where its last request began
  };
  static Extent lost_of(Extent lock, Extent extent, std::int64_t at_work, bool whole);
  bool others_hold(ClientId client, Mode mode) const;
  Extent grown(ClientId client, Extent extent, Mode mode) const;

  std::map<ClientId, Held> clients_;
};

}  // namespace shoal::lab
