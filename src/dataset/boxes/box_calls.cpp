// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/boxes/box_calls.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace shoal {

namespace {

constexpr int k_most_plans = 4096;

}  // namespace

void BoxCalls::forget_plans() {
  plans_.clear();
  next_.clear();
  alike_.clear();
  numbers_of_plans_.clear();
  last_ = -1;
}

// Records count from the last call's.
TwoHashes BoxCalls::hash_of(Direction direction, const CallBoxes& mine) const {
  return two_hashes([&](Hash& hash) {
    hash.add(static_cast<std::uint64_t>(direction));
    mine.add_to(hash, base_);
  });
}

// The same for variables that only lengths and types tell apart.
TwoHashes BoxCalls::shape_of(const Schema& schema, Direction direction, const CallBoxes& mine) const {
  return two_hashes([&](Hash& hash) {
    hash.add(static_cast<std::uint64_t>(direction));
    for (const int v : mine.variables()) {
      const Dims shape = schema.shape(v);
      const int records = schema.has_record(v) ? 1 : 0;
      hash.add(static_cast<std::uint64_t>(schema.variable(v).type));
      hash.add(static_cast<std::uint64_t>(records));
      hash.add(Box::whole(tail(shape, shape.size() - records)));
    }
    mine.add_places_to(hash, base_);
  });
}

// The plan of other variables, for these. All ranks do it alike.
int BoxCalls::add_like(const Like& like, const std::vector<int>& variables) {
  BoxPlan plan = plans_[like.number];
  for (auto& field : plan.fields) {
    const auto found = std::find(like.variables.begin(), like.variables.end(), field.variable);
    field.variable = variables.at(static_cast<std::size_t>(found - like.variables.begin()));
  }
  plans_.push_back(std::move(plan));
  return plans_.count() - 1;
}

BoxPlan BoxCalls::plan(const Together& ranks, const Schema& schema, Direction direction,
                       const CallBoxes& mine, bool refused) {
  const std::pair step(last_, hash_of(direction, mine));
  const auto expected = next_.find(step);
  int number = expected == next_.end() ? -1 : expected->second;
  CallSignature signature{direction == Direction::to_file ? "writes boxes" : "reads boxes"};
  Hash what;
  what.add(static_cast<std::uint64_t>(number + 1));
  const bool is_new = number < 0;
  TwoHashes shape;
  Like like;
  if (is_new) {
    shape = shape_of(schema, direction, mine);
    if (const auto known = alike_.find(shape); known != alike_.end()) like = known->second;
    what.add(static_cast<std::uint64_t>(like.number + 1));
    for (const std::vector<int>& variables : {like.variables, mine.variables()})
      for (const int v : variables)
        what.add(static_cast<std::uint64_t>(v));
  }
  signature.details = what.value();
  signature.any_flag = refused;
  const CallMatch match = ranks.match(signature);
  if (match.same && like.number >= 0 && plans_.count() < k_most_plans)
    number = add_like(like, mine.variables());
  else if (!match.same || is_new)
    number = find_or_make(ranks, schema, direction, mine);
  if (!match.same || is_new) next_[step] = number;
  if (is_new) alike_[shape] = {number, mine.variables()};
  last_ = number;
  BoxPlan plan = plans_[number];
  plan.refused = match.any_flag;
  const std::int64_t base = base_;
  bool first = true;
  for (auto& field : plan.fields) {
    if (field.records == 0) continue;
    field.record += base;
    if (std::exchange(first, false)) base_ = field.record;
  }
  return plan;
}

// The number of the plan. In the boxes that ranks send records count from the last call's, so a plan that is
// found fits.
int BoxCalls::find_or_make(const Together& ranks, const Schema& schema, Direction direction,
                           const CallBoxes& mine) {
  const auto all = ranks.comm.gather(mine.packed(base_), 0);
  if (plans_.count() >= k_most_plans) forget_plans();
  std::vector<Bytes> parts;
  std::int64_t number = 0;
  const Status status = caught([&] {
    if (ranks.comm.rank() != 0) return;
    const auto what = two_hashes([&](Hash& hash) {
      hash.add(static_cast<std::uint64_t>(direction));
      for (const auto& boxes : all)
        hash.add(boxes);
    });
    const auto [at, is_new] = numbers_of_plans_.try_emplace(what, plans_.count());
    number = at->second;
    if (!is_new) return;
    std::vector<CallBoxes> boxes;
    for (const auto& of_rank : all)
      boxes.push_back(CallBoxes::unpacked(of_rank));
    try {
      for (const auto& part : plan_boxes(schema, direction, boxes, numbers_of_cuts_))
        parts.push_back(part.packed());
    } catch (...) {
      numbers_of_plans_.erase(at);
      throw;
    }
  });
  if (const Status agreed = ranks.comm.agree(status); !agreed.ok()) {
    *this = {};  // rank 0 may have given numbers to decompositions that there are not
    throw Error(agreed);
  }
  number = ranks.comm.max(number);
  if (number < plans_.count()) return static_cast<int>(number);
  BoxPlanPart part = BoxPlanPart::unpacked(ranks.comm.scatter(parts, 0));
  try {
    add(ranks, direction, std::move(part));
  } catch (const Error&) {  // on all ranks; rank 0 has given numbers to decompositions that there are not
    *this = {};
    throw;
  }
  return plans_.count() - 1;
}

void BoxCalls::add(const Together& ranks, Direction direction, BoxPlanPart part) {
  for (const auto& cut : part.new_cuts)
    make_cut(ranks, cut, direction);
  plans_.push_back({std::move(part.fields), std::move(part.mine)});
}

void BoxCalls::make_cut(const Together& ranks, const NewCut& cut, Direction direction) {
  std::shared_ptr<const Decomposition> decomposition;
  if (cut.is_map) {
    std::vector<std::int64_t> cells;
    const Status status = caught([&] { cells = listed_cells(cut, direction); });
    decomposition = Decomposition::map(ranks.comm, cut.global, cut.uncut_dims, cells, status);
  } else {
    const Dims none(cut.global.size());
    const Box tile = cut.mine.count() == 0 ? Box(none, none) : cut.mine[0].around();
    decomposition = Decomposition::block(ranks.comm, cut.global, tile, none, none);
  }
  ranks.prepare(decomposition);
  cuts_.push_back(std::move(decomposition));
}

}  // namespace shoal
