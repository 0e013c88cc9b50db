// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <set>

namespace shoal {

/// A record of replicated values that wait in the owner's catalog: they must be in the file before ranks
/// store cells of the same variable. Local.
class CatalogPuts {
 public:
  /// Notes a call of put; variable: none where this rank does not know it.
  void note_call(std::optional<int> variable) {
    waiting_ = true;
    if (variable) called_.insert(*variable);
  }
  /// Notes that the catalog holds values of the variable. On the owner alone.
  void hold(int variable) { held_.insert(variable); }

  /// May values wait? The same on all ranks after a match of calls with this as any_flag.
  bool waiting() const { return waiting_; }
  void set_waiting(bool on_any_rank) { waiting_ = on_any_rank; }
  /// Was the variable put since the last commit, by a call that this rank knows?
  bool called(int variable) const { return called_.count(variable) != 0; }

  /// The variables of all such calls.
  const std::set<int>& calls() const { return called_; }

  const std::set<int>& held() const { return held_; }
  /// Removes the variable from those that wait. True: it waited, and must be written out.
  bool release(int variable) { return held_.erase(variable) != 0; }

  /// To be called on all ranks at a commit. holds: it failed, and the owner still holds something, which must
  /// go to the file before ranks store over it. Otherwise nothing waits.
  void commit(bool holds) {
    if (holds) return;
    waiting_ = false;
    held_.clear();
    called_.clear();
  }

 private:
  bool waiting_ = false;
  std::set<int> held_, called_;
};

}  // namespace shoal
