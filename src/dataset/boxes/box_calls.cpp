// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/boxes/box_calls.hpp"

#include <utility>

namespace shoal {

namespace {

constexpr std::size_t k_most_plans = 4096;
constexpr int k_key_bits = 42;  // so that 2^21 ranks can be summed

Bytes packed(const std::vector<CallBox>& boxes) {
  ByteWriter out;
  out.put(static_cast<std::uint64_t>(boxes.size()));
  for (const auto& box : boxes) {
    out.put(box.variable);
    out.put(box.record);
    out.put(box.records);
    out.put(box.record_step);
    pack(out, box.cells);
  }
  return out.take();
}

std::vector<CallBox> unpacked(const Bytes& bytes) {
  ByteReader in(bytes);
  std::vector<CallBox> boxes(in.length(1));
  for (auto& box : boxes) {
    in.get(box.variable);
    in.get(box.record);
    in.get(box.records);
    in.get(box.record_step);
    box.cells = unpack_shape(in);
  }
  return boxes;
}

// Records of variables that have them.
void move_records(BoxPlan& plan, std::int64_t by) {
  for (auto& field : plan.fields)
    if (field.records > 0) field.record += by;
}

}  // namespace

// The sum over ranks of a hash of each rank's boxes, in which records count from the last call's.
BoxCalls::Key BoxCalls::key_of(const Comm& comm, Direction direction,
                               const std::vector<CallBox>& mine) const {
  Key key{};
  for (std::size_t i = 0; i < key.size(); ++i) {
    Hash hash;
    hash.add(i);
    hash.add(static_cast<std::uint64_t>(comm.rank()));
    hash.add(static_cast<std::uint64_t>(direction));
    for (const auto& box : mine) {
      hash.add(static_cast<std::uint64_t>(box.variable));
      hash.add(static_cast<std::uint64_t>(box.record - base_));
      hash.add(static_cast<std::uint64_t>(box.records));
      hash.add(static_cast<std::uint64_t>(box.record_step));
      add(hash, box.cells);
    }
    key[i] = static_cast<std::int64_t>(hash.value() >> (64 - k_key_bits));
  }
  return key;
}

BoxPlan BoxCalls::plan(const Comm& comm, const Schema& schema, Direction direction,
                       const std::vector<CallBox>& mine, bool refused, const Prepare& prepare) {
  Key key = key_of(comm, direction, mine);
  std::vector<std::int64_t> sums(key.begin(), key.end());
  sums.push_back(refused ? 1 : 0);
  if (comm.size() > 1) sums = comm.sum(std::move(sums));
  std::copy_n(sums.begin(), key.size(), key.begin());
  auto known = plans_.find(key);
  if (known == plans_.end()) {
    BoxPlan made = make(comm, schema, direction, mine, prepare);
    move_records(made, -base_);
    if (plans_.size() == k_most_plans) plans_.clear();
    known = plans_.emplace(key, std::move(made)).first;
  }
  BoxPlan plan = known->second;
  plan.refused = sums.back() != 0;
  move_records(plan, base_);
  for (const auto& field : plan.fields)
    if (field.records > 0) {
      base_ = field.record;
      break;
    }
  return plan;
}

BoxPlan BoxCalls::make(const Comm& comm, const Schema& schema, Direction direction,
                       const std::vector<CallBox>& mine, const Prepare& prepare) {
  const auto all = comm.gather(packed(mine), 0);
  std::vector<Bytes> parts;
  const Status status = caught([&] {
    if (comm.rank() != 0) return;
    std::vector<std::vector<CallBox>> ranks;
    for (const auto& boxes : all)
      ranks.push_back(unpacked(boxes));
    for (const auto& part : plan_boxes(schema, direction, ranks, numbers_))
      parts.push_back(part.packed());
  });
  comm.agree_or_throw(status);
  BoxPlanPart part = BoxPlanPart::unpacked(comm.scatter(parts, 0));
  try {
    for (const auto& cut : part.new_cuts)
      make_cut(comm, cut, direction, prepare);
  } catch (const Error&) {  // on all ranks; rank 0 has given numbers to decompositions that there are not
    *this = {};
    throw;
  }
  return {std::move(part.fields), std::move(part.mine)};
}

void BoxCalls::make_cut(const Comm& comm, const NewCut& cut, Direction direction, const Prepare& prepare) {
  std::shared_ptr<const Decomposition> decomposition;
  if (cut.is_map) {
    std::vector<std::int64_t> cells;
    const Status status = caught([&] { cells = listed_cells(cut, direction); });
    decomposition = Decomposition::map(comm, cut.global, cut.uncut_dims, cells, status);
  } else {
    const Dims none(cut.global.size());
    const Box tile = cut.mine.empty() ? Box(none, none) : cut.mine.front().around();
    decomposition = Decomposition::block(comm, cut.global, tile, none, none);
  }
  prepare(decomposition);
  cuts_.push_back(std::move(decomposition));
}

}  // namespace shoal
