// Boxes of calls: what ranks tell each other of them, and what rank 0 makes of it.
#include <doctest/doctest.h>

#include <map>
#include <random>

#include "dataset/boxes/box_plan.hpp"

using namespace shoal;

namespace {

constexpr std::int64_t k_most = INT64_MAX;

using Ranks = std::vector<std::vector<StridedBox>>;  // boxes of each

Schema schema_of(int variables) {
  Schema schema;
  schema.dims = {{"y", 5, false}, {"x", 7, false}};
  for (int v = 0; v < variables; ++v) {
    VariableDef variable;
    variable.name = "v" + std::to_string(v);
    variable.type = Type::double_;
    variable.dims = {0, 1};
    schema.variables.push_back(variable);
  }
  return schema;
}

Ranks random_boxes(std::mt19937& random) {
  const auto draw = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  };
  Ranks ranks(static_cast<std::size_t>(1 + draw(4)));
  const bool dense = draw(2) == 0, rows = draw(2) == 0;
  for (auto& boxes : ranks)
    for (auto n = draw(5); n > 0; --n) {
      StridedBox box{{draw(5), draw(7)}, {1, 1}, {1, 1}};
      for (int d = rows ? 1 : 0; d < 2; ++d) {
        box.stride[d] = dense ? 1 : 1 + draw(3);
        box.count[d] = 1 + draw(((d == 0 ? 4 : 6) - box.start[d]) / box.stride[d] + 1);
      }
      boxes.push_back(box);
    }
  return ranks;
}

// The call in which each variable has these boxes: one variable after the other, or box by box.
std::vector<CallBoxes> calls_of(const Ranks& ranks, int variables, bool box_by_box) {
  std::vector<CallBoxes> calls;
  for (const auto& boxes : ranks) {
    CallBoxes call;
    const auto add = [&](int v, const StridedBox& box) { call.add({v, false, 0, 1, 1}, box); };
    if (box_by_box)
      for (const auto& box : boxes)
        for (int v = 0; v < variables; ++v)
          add(v, box);
    else
      for (int v = 0; v < variables; ++v)
        for (const auto& box : boxes)
          add(v, box);
    call.end();
    calls.push_back(CallBoxes::unpacked(call.packed(0)));
  }
  return calls;
}

// Places in the call of a rank's boxes in a field, as numbers of its list.
std::vector<int> boxes_of(const BoxPlanPart& part, std::size_t field, int variables, int boxes,
                          bool box_by_box) {
  std::vector<int> out;
  for (const auto& own : part.mine[field])
    for (int i = own.first; i < own.first + own.count; ++i)
      out.push_back(box_by_box ? i / variables : i % boxes);
  return out;
}

}  // namespace

TEST_CASE("box plans: numbers of any size are packed") {
  ByteWriter out;
  const std::vector<std::int64_t> numbers = {0,   1,    -1,      63,     64,      127,
                                             128, -128, 1 << 20, k_most, -k_most, INT64_MIN};
  for (const auto n : numbers) {
    pack_number(out, static_cast<std::uint64_t>(n));
    pack_difference(out, n, 0);
    pack_difference(out, n, k_most);
  }
  const Bytes bytes = out.take();
  ByteReader in(bytes);
  for (const auto n : numbers) {
    CHECK(unpack_number(in) == static_cast<std::uint64_t>(n));
    CHECK(unpack_difference(in, 0) == n);
    CHECK(unpack_difference(in, k_most) == n);
  }
}

TEST_CASE("box plans: lists of boxes are packed, in a byte or two a number") {
  for (const int rank : {0, 1, 2, 15}) {
    CAPTURE(rank);
    for (const std::int64_t stride : {1, 3}) {
      BoxList list(rank);
      for (std::int64_t i = 0; i < 100; ++i)
        list.push_back({Dims(rank, 1000 + 50 * i), Dims(rank, 1 + i % 20), Dims(rank, stride)});
      ByteWriter out;
      list.pack(out);
      const Bytes bytes = out.take();
      CHECK(bytes.size() <= static_cast<std::size_t>(8 + 100 * rank * (stride == 1 ? 2 : 3) + 2 * rank));
      BoxList back;
      ByteReader in(bytes);
      back.unpack(in);
      CHECK(back == list);
      CHECK(back.hashes() == list.hashes());
    }
  }
  BoxList large(2);
  large.push_back({{k_most - 1, 0}, {1, k_most}, {1, 1}});
  large.push_back({{0, k_most - 1}, {k_most, 1}, {1, 1}});
  ByteWriter out;
  large.pack(out);
  const Bytes bytes = out.take();
  BoxList back;
  ByteReader in(bytes);
  back.unpack(in);
  CHECK(back == large);
}

TEST_CASE("box plans: a call has each list once, with the places of its boxes") {
  CallBoxes call;
  const StridedBox one{{1}, {2}, {1}}, other{{4}, {1}, {1}}, none{{4}, {0}, {1}};
  for (int v = 0; v < 3; ++v)
    for (const auto& box : {one, other})
      call.add({v, true, 5, 1, 1}, box);
  call.add({3, true, 5, 1, 1}, one);
  call.add({3, true, 5, 1, 1}, none);
  call.add({3, true, 5, 1, 1}, other);
  call.add({3, true, 6, 1, 1}, other);
  call.end();
  const CallBoxes back = CallBoxes::unpacked(call.packed(2));
  const std::vector<std::pair<int, int>> expected = {{0, 0}, {2, 0}, {4, 0}, {6, 1}, {8, 2}, {9, 2}};
  REQUIRE(back.parts().size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& part = back.parts()[i];
    CHECK(part.first == expected[i].first);
    CHECK(part.list == expected[i].second);
    CHECK(part.of.variable == std::min<int>(static_cast<int>(i), 3));
    CHECK(part.of.record == (i == 5 ? 4 : 3));
    CHECK(back.list(part) == call.list(call.parts()[i]));
  }
  CHECK(back.packed(0) == call.packed(2));
}

TEST_CASE("box plans: variables with equal lists get what each alone gets") {
  std::mt19937 random(3);
  constexpr int k_variables = 3;
  const Schema schema = schema_of(k_variables);
  for (int round = 0; round < 400; ++round) {
    CAPTURE(round);
    const Ranks ranks = random_boxes(random);
    const Direction direction = round % 2 == 0 ? Direction::to_file : Direction::from_file;
    CutNumbers none, known, also;
    const auto alone = plan_boxes(schema, direction, calls_of(ranks, 1, false), none);
    const auto together = plan_boxes(schema, direction, calls_of(ranks, k_variables, false), known);
    const auto mixed = plan_boxes(schema, direction, calls_of(ranks, k_variables, true), also);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const int n = static_cast<int>(ranks[r].size());
      const auto& expected = alone[r];
      REQUIRE(together[r].fields.size() == k_variables * expected.fields.size());
      REQUIRE(mixed[r].fields.size() == together[r].fields.size());
      for (const auto* plan : {&together[r], &mixed[r]}) {
        REQUIRE(plan->new_cuts.size() == expected.new_cuts.size());
        for (std::size_t c = 0; c < expected.new_cuts.size(); ++c) {
          const NewCut &cut = plan->new_cuts[c], &as = expected.new_cuts[c];
          CHECK(cut.global == as.global);
          CHECK(cut.is_map == as.is_map);
          CHECK(cut.uncut_dims == as.uncut_dims);
          CHECK(cut.mine == as.mine);
          CHECK(cut.others == as.others);
        }
        for (std::size_t f = 0; f < plan->fields.size(); ++f) {
          const BoxField &field = plan->fields[f], &as = expected.fields.front();
          CHECK(field.variable == static_cast<int>(f));
          CHECK(field.kind == as.kind);
          CHECK(field.owner == as.owner);
          CHECK(field.cut == as.cut);
          CHECK(field.section == as.section);
          CHECK(boxes_of(*plan, f, k_variables, n, plan == &mixed[r]) == boxes_of(expected, 0, 1, n, false));
        }
      }
      const BoxPlanPart back = BoxPlanPart::unpacked(together[r].packed());
      CHECK(back.mine == together[r].mine);
      CHECK(back.packed() == together[r].packed());
    }
  }
}

TEST_CASE("box plans: each cell is written once, by the first rank that has it, from its last box") {
  std::mt19937 random(4);
  const Schema schema = schema_of(1);
  for (int round = 0; round < 400; ++round) {
    CAPTURE(round);
    const Ranks ranks = random_boxes(random);
    CutNumbers known;
    const auto parts = plan_boxes(schema, Direction::to_file, calls_of(ranks, 1, false), known);
    if (parts.front().fields.empty() || parts.front().fields.front().kind == BoxField::Kind::whole) continue;
    const BoxField& field = parts.front().fields.front();
    std::map<std::vector<std::int64_t>, std::vector<std::size_t>> expected, found;  // a rank, and a box
    for (std::size_t r = 0; r < ranks.size(); ++r)
      for (std::size_t b = 0; b < ranks[r].size(); ++b)
        for (std::int64_t i = 0; i < ranks[r][b].cells(); ++i) {
          const Dims at = ranks[r][b].index_of(unravel(i, ranks[r][b].count));
          auto& owner = expected[{at[0], at[1]}];
          if (owner.empty() || owner[0] == r) owner = {r, b};
        }
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const NewCut& cut = parts[r].new_cuts.front();
      const auto boxes = boxes_of(parts[r], 0, 1, static_cast<int>(ranks[r].size()), false);
      REQUIRE(cut.mine.count() == static_cast<int>(boxes.size()));
      std::vector<std::int64_t> cells;
      if (cut.is_map) cells = listed_cells(cut, Direction::to_file);
      std::size_t next = 0;
      for (const int b : boxes) {
        const StridedBox& box = ranks[r][static_cast<std::size_t>(b)];
        const int lead = 2 - cut.global.size(), last = 2 - cut.uncut_dims;
        const StridedBox listed = box.from(lead).before(last - lead);
        for (std::int64_t i = 0; i < listed.cells(); ++i) {
          if (cut.is_map && cells[next++] == k_hole) continue;
          StridedBox of_cell = box;
          const Dims at = listed.index_of(unravel(i, listed.count));
          for (int d = lead; d < last; ++d)
            of_cell.start[d] = at[d - lead], of_cell.count[d] = 1;
          for (std::int64_t j = 0; j < of_cell.cells(); ++j) {
            const Dims cell = of_cell.index_of(unravel(j, of_cell.count));
            auto& owner = found[{cell[0], cell[1]}];
            CHECK(owner.empty());
            owner = {r, static_cast<std::size_t>(b)};
          }
        }
      }
      CHECK(next == cells.size());
    }
    CHECK(found == expected);
    CHECK(field.cut == 0);
  }
}
