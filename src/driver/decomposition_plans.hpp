// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "decomp/decomposition.hpp"

namespace shoal {

/// A plan for each decomposition, in the order in which they were added. Each decomposition is kept with its
/// plan, so that no other one ever has its address. The addresses of plans do not change. All is Local.
template <class Plan>
class DecompositionPlans {
 public:
  struct Entry {
    std::shared_ptr<const Decomposition> decomposition;
    Plan plan;
  };

  DecompositionPlans() = default;
  DecompositionPlans(const DecompositionPlans&) = delete;
  DecompositionPlans& operator=(const DecompositionPlans&) = delete;

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }

  /// The plan of a decomposition; nullptr: it has none.
  const Plan* find(const Decomposition* decomposition) const {
    const auto found = by_address_.find(decomposition);
    return found == by_address_.end() ? nullptr : found->second;
  }
  Plan* find(const Decomposition* decomposition) {
    const auto found = by_address_.find(decomposition);
    return found == by_address_.end() ? nullptr : found->second;
  }
  /// The plan of a decomposition that has one.
  const Plan& at(const Decomposition* decomposition) const { return *by_address_.at(decomposition); }
  Plan& at(const Decomposition* decomposition) { return *by_address_.at(decomposition); }
  /// Adds the plan of a decomposition that has none yet.
  Plan& add(std::shared_ptr<const Decomposition> decomposition, Plan plan) {
    const Decomposition* const address = decomposition.get();
    Entry& entry = entries_.emplace_back(Entry{std::move(decomposition), std::move(plan)});
    by_address_.emplace(address, &entry.plan);
    return entry.plan;
  }

 private:
  std::deque<Entry> entries_;
  std::map<const Decomposition*, Plan*> by_address_;
};

}  // namespace shoal
