// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <utility>

namespace shoal {

/// Replicated values that wait in the owner's catalog, which must be in the file before ranks store cells of
/// the same variable. Local.
class CatalogPuts {
 public:
  /// A call of put; of a variable that a rank cannot name: -1.
  void note_call(int variable) {
    waiting_ = true;
    if (variable >= 0) called_.insert(variable);
  }
  /// The catalog has taken values of the variable. On the owner alone.
  void hold(int variable) { held_.insert(variable); }

  /// May something wait? On all ranks alike, once they have matched calls with this as any_flag.
  bool waiting() const { return waiting_; }
  void set_waiting(bool on_any_rank) { waiting_ = on_any_rank; }
  /// Was the variable put since the last commit, by a call that this rank knows?
  bool called(int variable) const { return called_.count(variable) != 0; }

  const std::set<int>& held() const { return held_; }
  /// Must the variable be written out? Then it waits no more.
  bool release(int variable) { return held_.erase(variable) != 0; }

  /// Nothing waits after a commit. The variables of all calls since the last one.
  std::set<int> commit() {
    waiting_ = false;
    held_.clear();
    return std::exchange(called_, {});
  }

 private:
  bool waiting_ = false;
  std::set<int> held_, called_;
};

}  // namespace shoal
