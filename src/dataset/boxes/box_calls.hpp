// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "comm/comm.hpp"
#include "dataset/boxes/box_plan.hpp"

namespace shoal {

/// What a call with boxes does on this rank.
struct BoxPlan {
  std::vector<BoxField> fields;
  std::vector<std::vector<OwnBox>> mine;  ///< of each field
  bool refused = false;                   ///< a rank has bad arguments, and takes part with nothing
};

/// Plans of the calls with boxes of one dataset, and the decompositions that they use. Ranks whose boxes are
/// those of an earlier call, in any records, exchange a hash; else rank 0 plans from the boxes of all.
class BoxCalls {
 public:
  using Prepare = std::function<void(const std::shared_ptr<const Decomposition>&)>;

  /// refused: this rank has bad arguments (and no boxes). prepare: called with each new decomposition.
  /// Error on all ranks alike. Collective.
  BoxPlan plan(const Comm& comm, const Schema& schema, Direction direction, const std::vector<CallBox>& mine,
               bool refused, const Prepare& prepare);
  const std::shared_ptr<const Decomposition>& cut(int number) const { return cuts_[number]; }
  /// Numbers of variables may have got other meanings. Local.
  void forget_plans() { plans_.clear(); }

 private:
  using Key = std::array<std::int64_t, 3>;
  Key key_of(const Comm& comm, Direction direction, const std::vector<CallBox>& mine) const;
  BoxPlan make(const Comm& comm, const Schema& schema, Direction direction, const std::vector<CallBox>& mine,
               const Prepare& prepare);
  void make_cut(const Comm& comm, const NewCut& cut, Direction direction, const Prepare& prepare);

  std::map<Key, BoxPlan> plans_;  // records count from base_
  std::int64_t base_ = 0;         // first record of the last call, the same on all ranks
  Numbered<std::shared_ptr<const Decomposition>> cuts_;
  CutNumbers numbers_;  // on rank 0
};

}  // namespace shoal
