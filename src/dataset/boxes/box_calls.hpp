// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "comm/comm.hpp"
#include "dataset/boxes/box_plan.hpp"

namespace shoal {

/// What a call with boxes does on this rank.
struct BoxPlan {
  std::vector<BoxField> fields;
  std::vector<std::vector<FieldBoxes>> mine;  ///< of each field
  bool refused = false;                       ///< a rank has bad arguments, and takes part with nothing
};

/// Plans of the calls with boxes of one dataset, and the decompositions that they use. Each rank expects the
/// plan that came after the last one when it had these boxes before, in any records, or had them for other
/// variables of these lengths; ranks that expect the same plan use it. Else rank 0 gathers the boxes, and
/// finds or makes their plan.
class BoxCalls {
 public:
  /// What ranks do together for a plan.
  struct Together {
    const Comm& comm;
    std::function<CallMatch(const CallSignature&)> match;
    std::function<void(const std::shared_ptr<const Decomposition>&)> prepare;  ///< a new decomposition
  };

  /// refused: this rank has bad arguments (and no boxes). Error on all ranks alike. Collective.
  BoxPlan plan(const Together& ranks, const Schema& schema, Direction direction, const CallBoxes& mine,
               bool refused);
  const std::shared_ptr<const Decomposition>& cut(int number) const { return cuts_[number]; }
  /// Numbers of variables may have got other meanings. Local.
  void forget_plans();

 private:
  /// A plan that this rank expects, and the variables that it is of.
  struct Like {
    int number = -1;
    std::vector<int> variables;
  };

  TwoHashes hash_of(Direction direction, const CallBoxes& mine) const;
  TwoHashes shape_of(const Schema& schema, Direction direction, const CallBoxes& mine) const;
  int add_like(const Like& like, const std::vector<int>& variables);
  int find_or_make(const Together& ranks, const Schema& schema, Direction direction, const CallBoxes& mine);
  void add(const Together& ranks, Direction direction, BoxPlanPart part);
  void make_cut(const Together& ranks, const NewCut& cut, Direction direction);

  // The same on all ranks.
  Numbered<BoxPlan> plans_;  // records count from base_
  std::int64_t base_ = 0;    // first record of the last call
  int last_ = -1;            // plan of the last call
  Numbered<std::shared_ptr<const Decomposition>> cuts_;
  // This rank's.
  std::map<std::pair<int, TwoHashes>, int> next_;  // the plan that came after a plan
  std::map<TwoHashes, Like> alike_;                // the last plan of boxes in variables of such lengths
  // On rank 0.
  std::map<TwoHashes, int> numbers_of_plans_;  // by a hash of the boxes of all ranks
  CutNumbers numbers_of_cuts_;
};

}  // namespace shoal
