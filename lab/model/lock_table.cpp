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

bool LockTable::others_hold(ClientId client, Mode mode) const {
  return std::any_of(clients_.begin(), clients_.end(), [&](const auto& each) {
    const auto& [other, held] = each;
    return other != client && (!held.writes.empty() || (mode == Mode::write && !held.reads.empty()));
  });
}

// Of a lock that has bytes of the request: all of it, or what lies on the request's side of where its holder
// is at work.
Extent LockTable::lost_of(Extent lock, Extent extent, std::int64_t at_work, bool whole) {
  if (whole) return lock;
  return at_work < extent.begin ? Extent{std::max(lock.begin, extent.begin), lock.end}
                                : Extent{lock.begin, std::min(lock.end, extent.end)};
}

LockTable::Grant LockTable::acquire(ClientId client, Extent extent, Mode mode,
                                    const LockParameters& parameters) {
  Grant grant;
  grant.held = holds(client, extent, mode);
  clients_[client].at_work = extent.begin;
  if (grant.held) return grant;
  // Where others lose all, the server grows a lock down only in a file that nobody else has locked; it looks
  // before they have lost it.
  const bool up_only = parameters.revoke_whole && others_hold(client, mode);
  for (auto& [other, held] : clients_) {
    if (other == client) continue;
    IntervalSet lost;
    for (IntervalSet* set : {&held.writes, &held.reads}) {
      if (set == &held.reads && mode == Mode::read) continue;
      for (const Extent& lock : set->touched(extent)) {
        const Extent part = lost_of(lock, extent, held.at_work, parameters.revoke_whole);
        set->remove(part);
        lost.add(part);
      }
    }
    if (!lost.empty()) grant.revocations.push_back({other, lost.all()});
  }
  Extent given = parameters.grow ? grown(client, extent, mode) : extent;
  if (up_only) given.begin = extent.begin;
  Held& mine = clients_[client];
  (mode == Mode::write ? mine.writes : mine.reads).add(given);
  return grant;
}

}  // namespace shoal::lab
