// SPDX-License-Identifier: BSD-3-Clause
#include "model/lock_table.hpp"

#include <algorithm>
#include <limits>

namespace shoal::lab {

bool LockTable::holds(ClientId client, Extent extent, Mode mode) const {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return false;
  return found->second.writes.covers(extent) || (mode == Mode::read && found->second.reads.covers(extent));
}

// Up to the next bytes, on either side, that others hold against this mode.
Extent LockTable::grown(ClientId client, Extent extent, Mode mode) const {
  Extent out{0, std::numeric_limits<std::int64_t>::max()};
  for (const auto& [other, held] : clients_) {
    if (other == client) continue;
    for (const IntervalSet* set : {&held.writes, &held.reads}) {
      if (set == &held.reads && mode == Mode::read) continue;
      if (const auto end = set->last_end(extent.begin)) out.begin = std::max(out.begin, *end);
      if (const auto begin = set->next_begin(extent.end)) out.end = std::min(out.end, *begin);
    }
  }
  return out;
}

LockTable::Grant LockTable::acquire(ClientId client, Extent extent, Mode mode,
                                    const LockParameters& parameters) {
  Grant grant;
  grant.held = holds(client, extent, mode);
  if (grant.held) return grant;
  for (auto& [other, held] : clients_) {
    if (other == client) continue;
    IntervalSet lost;
    for (IntervalSet* set : {&held.writes, &held.reads}) {
      if (set == &held.reads && mode == Mode::read) continue;
      for (const Extent& part : parameters.revoke_whole ? set->touched(extent) : set->parts(extent)) {
        set->remove(part);
        lost.add(part);
      }
    }
    if (!lost.empty()) grant.revocations.push_back({other, lost.all()});
  }
  Held& mine = clients_[client];
  (mode == Mode::write ? mine.writes : mine.reads)
      .add(parameters.grow ? grown(client, extent, mode) : extent);
  return grant;
}

}  // namespace shoal::lab
