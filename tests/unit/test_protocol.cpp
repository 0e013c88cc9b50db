// SPDX-License-Identifier: BSD-3-Clause
// What a rank knows of itself among the others: states, the deferred error, what ranks compare.
#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "driver/native/catalog_puts.hpp"
#include "driver/protocol/call_hash.hpp"
#include "driver/protocol/protocol.hpp"

using namespace shoal;

namespace {

const Status k_range{Code::range, "does not fit", -1, {}, "temp"};
const Status k_full{Code::no_space, "the device is full", -1, {}, {}};

/// What each rank hears that gives its words to the others.
std::vector<Comparison> compare(const std::vector<CollectiveState>& ranks,
                                const std::vector<std::vector<std::int64_t>>& lengths = {}) {
  std::vector<std::int64_t> largest;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const auto mine = ranks[r].to_compare(lengths.empty() ? std::vector<std::int64_t>{} : lengths[r]);
    if (largest.empty()) largest = mine;
    REQUIRE(mine.size() == largest.size());
    std::transform(mine.begin(), mine.end(), largest.begin(), largest.begin(),
                   [](auto a, auto b) { return std::max(a, b); });
  }
  std::vector<Comparison> found;
  for (const auto& rank : ranks)
    found.push_back(rank.compared(largest));
  return found;
}

std::vector<CollectiveState> three_ranks() {
  return {CollectiveState(0), CollectiveState(1), CollectiveState(2)};
}

CollectiveState in_state(CallState state) {
  CollectiveState rank(0);
  if (state == CallState::unsettled) rank.change();
  if (state == CallState::diverged) rank.diverge();
  if (state == CallState::skipped) rank.skip(k_range);
  REQUIRE(rank.calls() == state);
  return rank;
}

Schema of_records(Format format) {
  Schema schema;
  schema.format = format;
  schema.dims.resize(2);
  schema.dims[0].unlimited = true;
  schema.dims[1].length = 5;
  schema.variables.resize(2);
  schema.variables[0].type = Type::float_;
  schema.variables[0].dims = {0, 1};
  schema.variables[0].distributed = true;
  schema.variables[1].type = Type::float_;
  schema.variables[1].dims = {1};
  return schema;
}

}  // namespace

TEST_CASE("states of calls: the table of transitions") {
  using enum CallState;
  struct Row {
    CallState from, change, diverge, skip, matched;
  };
  for (const Row& row : {Row{settled, unsettled, diverged, skipped, settled},
                         Row{unsettled, unsettled, diverged, skipped, settled},
                         Row{diverged, diverged, diverged, skipped, diverged},
                         Row{skipped, skipped, skipped, skipped, diverged}}) {
    CAPTURE(static_cast<int>(row.from));
    const auto after = [&](auto&& event) {
      CollectiveState rank = in_state(row.from);
      event(rank);
      return rank.calls();
    };
    CHECK(after([](auto& rank) { rank.change(); }) == row.change);
    CHECK(after([](auto& rank) { rank.diverge(); }) == row.diverge);
    CHECK(after([](auto& rank) { rank.skip(k_full); }) == row.skip);
    CHECK(after([](auto& rank) { rank.matched(); }) == row.matched);
    CHECK(after([](auto& rank) { rank.complete_pending(); }) == settled);
  }
}

TEST_CASE("states of calls: each includes those before it") {
  CHECK(in_state(CallState::settled).is_settled());
  for (const auto state : {CallState::unsettled, CallState::diverged, CallState::skipped})
    CHECK_FALSE(in_state(state).is_settled());
  CHECK_FALSE(in_state(CallState::unsettled).has_diverged());
  CHECK(in_state(CallState::diverged).has_diverged());
  CHECK(in_state(CallState::skipped).has_diverged());
  CHECK_FALSE(in_state(CallState::diverged).has_skipped());
  CHECK(in_state(CallState::skipped).has_skipped());
}

TEST_CASE("states of the file: a commit is begun with what is known of it, and ends in any state") {
  CollectiveState rank(0);
  CHECK(rank.file() == FileState::unknown);
  rank.end_commit(FileState::whole);
  CHECK(rank.file() == FileState::whole);
  rank.begin_commit();
  CHECK(rank.file() == FileState::unknown);
  rank.lose();
  rank.begin_commit();
  CHECK(rank.file() == FileState::incomplete);
  rank.end_commit(FileState::unknown);
  CHECK(rank.file() == FileState::unknown);
}

TEST_CASE("the deferred error is the first one, is taken once, and has the rank that it lacked") {
  CollectiveState rank(3);
  rank.defer({});
  CHECK(rank.deferred().ok());
  rank.defer(k_range);
  rank.defer({Code::type, "another"});
  CHECK(rank.deferred().code == Code::range);
  const Status first = rank.take_deferred();
  CHECK(first.message == k_range.message);
  CHECK(first.rank == 3);
  CHECK(first.variable == "temp");
  CHECK(rank.take_deferred().ok());
  Status of_other = k_full;
  of_other.rank = 1;
  rank.defer(of_other);
  CHECK(rank.deferred().rank == 1);
}

TEST_CASE("a deferred error by which cells are lost comes before one by which none are, and names it") {
  CollectiveState rank(3);
  rank.defer(k_range);
  rank.defer(k_full);
  CHECK(rank.compared(rank.to_compare()).any_lost);
  rank.defer(k_range);
  rank.defer({Code::io, "another"});
  const Status both = rank.take_deferred();
  CHECK(both.code == Code::no_space);
  CHECK(both.message.starts_with(k_full.message));
  CHECK(both.message.find(k_range.message) != std::string::npos);
  CHECK(both.message.find("another") == std::string::npos);
}

TEST_CASE("an error that lasts is reported each time: first as it is, then as what became of the file") {
  CollectiveState rank(2);
  rank.defer_lasting({}, "not whole");
  CHECK(rank.deferred().ok());

  rank.defer(k_full);  // by the call that failed
  rank.defer_lasting(k_full, "not whole");
  CHECK(rank.take_deferred().message == k_full.message);
  rank.defer_lasting(k_full, "not whole");
  CHECK(rank.take_deferred().message == "not whole");
  rank.defer(k_range);
  rank.defer_lasting(k_full, "not whole");
  const Status again = rank.take_deferred();
  CHECK(again.message == "not whole");
  CHECK(again.code == Code::no_space);
  CHECK(again.rank == 2);
}

TEST_CASE("an error that lasts, and that no call reported, has the other message at once") {
  CollectiveState rank(0);
  rank.defer(k_range);
  rank.defer_lasting(k_full, "not whole");
  CHECK(rank.take_deferred().message == "not whole");
}

TEST_CASE("ranks compare their calls, in order, and what became of them") {
  auto ranks = three_ranks();
  for (auto& rank : ranks) {
    rank.note_call(hash_of_call(0, {{0, 0}, {1, 5}}));
    rank.note_call(hash_of_call(1, {{0}, {5}}));
  }
  for (const auto& found : compare(ranks, {{4, 5}, {2, 5}, {3, 5}})) {
    CHECK(found.same);
    CHECK(found.is_reference);
    CHECK_FALSE((found.any_deferred || found.any_skipped || found.any_diverged || found.any_lost));
    CHECK(found.lengths == std::vector<std::int64_t>{4, 5});
  }
  ranks[1].defer(k_range);
  ranks[2].diverge();
  for (const auto& found : compare(ranks)) {
    CHECK((found.any_deferred && found.any_diverged));
    CHECK_FALSE((found.any_skipped || found.any_lost));
  }
  ranks[0].skip();
  ranks[2].defer(k_full);
  for (const auto& found : compare(ranks))
    CHECK((found.any_skipped && found.any_lost));
}

TEST_CASE("ranks that made other calls, in another order, or one more, find out; some are the reference") {
  const auto differ = [](auto&& of_rank_1) {
    auto ranks = three_ranks();
    for (auto& rank : ranks) {
      rank.note_call(hash_of_call(0, {{0}, {5}}));
      if (&rank != &ranks[1]) rank.note_call(hash_of_call(1, {{0}, {5}}));
    }
    of_rank_1(ranks[1]);
    const auto found = compare(ranks);
    CHECK_FALSE(found[0].same);
    CHECK_FALSE(found[1].same);
    CHECK_FALSE(found[2].same);
    CHECK(found[0].is_reference == found[2].is_reference);
    CHECK(found[0].is_reference != found[1].is_reference);
  };
  differ([](auto&) {});
  differ([](auto& rank) { rank.note_call(hash_of_call(1, {{1}, {4}})); });
  differ([](auto& rank) { rank.note_call(); });
  differ([](auto& rank) {
    rank.matched();
    rank.note_call(hash_of_call(1, {{0}, {5}}));
    rank.note_call(hash_of_call(0, {{0}, {5}}));
  });
}

TEST_CASE(
    "the signature of a rank that settles says its calls, its error, and whether there is anything to do") {
  CollectiveState rank(0);
  CHECK_FALSE(rank.signature("syncs").failed);
  CHECK_FALSE(rank.signature("syncs").any_flag);
  rank.note_call(1);
  rank.change();
  CHECK(rank.signature("syncs").details == rank.hash());
  CHECK(rank.signature("syncs").any_flag);
  CHECK_FALSE(rank.signature("syncs").failed);
  rank.matched();
  CHECK(rank.signature("syncs").details == CollectiveState(1).hash());
  rank.defer(k_range);
  CHECK(rank.signature("syncs").failed);
  CHECK(rank.signature("syncs").any_flag);
}

TEST_CASE("a skipped call is reported where calls are matched, and why, until ranks have settled") {
  CollectiveState rank(0);
  CHECK(rank.with_skipped({"syncs"}, "writes").skipped_call == nullptr);
  rank.skip(k_range);
  rank.skip(k_full);
  CHECK(std::string(rank.with_skipped({"syncs"}, "writes").skipped_call) == "writes");
  CHECK(rank.why_skipped().code == Code::range);
  rank.matched();
  CHECK(rank.with_skipped({"syncs"}, "writes").skipped_call == nullptr);
  CHECK(rank.why_skipped().ok());
}

TEST_CASE("others are asked once so much was written, but by no rank that skipped a call") {
  CollectiveState rank(0);
  rank.note_bytes(1000);
  CHECK_FALSE(rank.must_ask());  // never
  rank.ask_after(1500);
  CHECK_FALSE(rank.must_ask());
  rank.note_bytes(500);
  CHECK(rank.must_ask());
  CHECK_FALSE(rank.must_ask());
  rank.note_bytes(1499);
  rank.matched();
  rank.note_bytes(1);
  CHECK_FALSE(rank.must_ask());
  rank.note_bytes(1500);
  rank.skip();
  CHECK_FALSE(rank.must_ask());
}

TEST_CASE("a variable changes its path only since ranks settled") {
  CollectiveState rank(0);
  CHECK_FALSE(rank.changes_path(0, 1));
  rank.note_path(0, 1);
  CHECK_FALSE(rank.changes_path(0, 1));
  CHECK(rank.changes_path(0, 2));
  CHECK_FALSE(rank.changes_path(1, 2));
  rank.matched();
  CHECK_FALSE(rank.changes_path(0, 2));
}

TEST_CASE("lengths grow with what is written, and are taken back to those of the last commit") {
  Schema schema = of_records(Format::netcdf4);
  RecordState records;
  records.start(schema);
  records.note_committed(schema);
  records.note_write(schema, 0, {{2, 0}, {1, 5}});
  records.add(schema, 0, {{2, 0}, {1, 5}});
  CHECK(lengths_of(schema) == std::vector<std::int64_t>{3, 5});
  records.add(schema, 0, {{7, 0}, {1, 0}});  // no cells
  CHECK(lengths_of(schema) == std::vector<std::int64_t>{3, 5});
  CHECK(records.written_records(schema, 0) == 3);
  CHECK(records.take_gaps(schema).empty());  // the format fills them itself
  CHECK(records.known(schema) == std::vector<std::int64_t>{0, 0});
  records.note_known(schema);
  CHECK(records.known(schema) == std::vector<std::int64_t>{3, 5});
  set_lengths(schema, {9, 9});
  CHECK(lengths_of(schema) == std::vector<std::int64_t>{9, 5});
  records.take_back(schema);
  CHECK(lengths_of(schema) == std::vector<std::int64_t>{0, 5});
  CHECK(records.known(schema) == std::vector<std::int64_t>{0, 5});
}

TEST_CASE("cells that nobody wrote are gaps, where the format needs them filled") {
  Schema schema = of_records(Format::cdf5);
  RecordState records;
  records.start({});
  records.add_variables(schema);
  records.add(schema, 0, {{1, 0}, {1, 5}});
  CHECK(records.gaps_in(schema, 0, {{0, 1}, {2, 3}}) == std::vector<Box>{{{0, 1}, {1, 3}}});
  CHECK(records.gaps_in(schema, 0, {{1, 0}, {1, 5}}).empty());
  records.add(schema, 0, {{0, 0}, {1, 2}});
  CHECK(records.gaps_in(schema, 0, {{0, 1}, {2, 3}}) == std::vector<Box>{{{0, 2}, {1, 2}}});
  CHECK(records.gaps_in(schema, 0, {{0, 0}, {1, 2}}).empty());
  const auto gaps = records.take_gaps(schema);
  REQUIRE(gaps.size() == 1);  // variable 1 is replicated: its catalog fills it
  CHECK(gaps[0].variable == 0);
  CHECK(gaps[0].cells == Box{{0, 2}, {1, 3}});
  CHECK(records.take_gaps(schema).empty());
  CHECK(records.gaps_in(schema, 0, {{0, 0}, {2, 5}}).empty());

  RecordState of_all(true);
  of_all.start({});
  of_all.add_variables(schema);
  of_all.add(schema, 0, {{0, 0}, {2, 5}});
  const auto more = of_all.take_gaps(schema);
  REQUIRE(more.size() == 1);
  CHECK(more[0].variable == 1);
}

TEST_CASE("gaps that could not be filled are gaps again, but for what was written since") {
  Schema schema = of_records(Format::cdf5);
  RecordState records;
  records.start({});
  records.add_variables(schema);
  records.add(schema, 0, {{0, 0}, {3, 5}});
  records.add(schema, 0, {{3, 2}, {1, 1}});
  const auto gaps = records.take_gaps(schema);
  records.put_back(schema, gaps);
  CHECK(records.gaps_in(schema, 0, {{0, 0}, {4, 5}}) == std::vector<Box>{{{3, 0}, {1, 2}}, {{3, 3}, {1, 2}}});
  records.put_back(schema, {{0, {{1, 1}, {1, 2}}}});
  records.add(schema, 0, {{1, 2}, {1, 1}});
  records.add(schema, 0, {{3, 0}, {1, 5}});
  CHECK(records.gaps_in(schema, 0, {{0, 0}, {4, 5}}) == std::vector<Box>{{{1, 1}, {1, 1}}});
  const auto rest = records.take_gaps(schema);
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].cells == Box{{1, 1}, {1, 1}});
  CHECK(records.take_gaps(schema).empty());
}

TEST_CASE("records that never were have no gaps") {
  Schema schema = of_records(Format::cdf5);
  RecordState records;
  records.start(schema);
  records.note_committed(schema);
  records.add(schema, 0, {{3, 0}, {1, 5}});
  records.take_back(schema);
  CHECK(records.take_gaps(schema).empty());
}

TEST_CASE("what was put waits in the catalog until it is written out, or until the commit") {
  CatalogPuts puts;
  CHECK_FALSE(puts.waiting());
  puts.note_call(std::nullopt);  // this rank alone cannot report which variable
  CHECK(puts.waiting());
  CHECK_FALSE(puts.called(0));
  puts.note_call(0);
  puts.note_call(2);
  puts.hold(2);
  CHECK((puts.called(0) && puts.called(2)));
  CHECK(puts.release(2));
  CHECK_FALSE(puts.release(2));
  CHECK_FALSE(puts.release(0));  // the catalog did not take it
  puts.hold(0);
  CHECK(puts.calls() == std::set<int>{0, 2});
  puts.commit(true);  // the disk was full
  CHECK((puts.waiting() && puts.called(2)));
  CHECK(puts.held() == std::set<int>{0});
  puts.commit(false);
  CHECK_FALSE(puts.waiting());
  CHECK(puts.held().empty());
  CHECK_FALSE(puts.called(0));
}

TEST_CASE("what ranks wrote together is pending until calls match, and uncommitted until a whole commit") {
  CollectiveState rank(0);
  CHECK(!rank.may_have_pending(3));
  rank.note_path(3, 1);
  CHECK(rank.may_have_pending(3));
  CHECK(!rank.may_have_pending(4));
  CHECK(rank.has_uncommitted(3));
  rank.matched();
  CHECK(!rank.may_have_pending(3));
  CHECK(rank.has_uncommitted(3));
  rank.note_path(4, 1);
  rank.matched();
  CHECK(rank.has_uncommitted(3));
  CHECK(rank.has_uncommitted(4));
  rank.begin_commit();
  rank.end_commit(FileState::unknown);  // it failed
  CHECK(rank.has_uncommitted(3));
  rank.end_commit(FileState::whole);
  CHECK(!rank.has_uncommitted(3));
  CHECK(!rank.has_uncommitted(4));
  rank.skip(k_range);  // nobody knows of what variable
  CHECK(rank.may_have_pending(5));
  rank.complete_pending();
  CHECK(!rank.may_have_pending(5));
  CHECK(rank.has_uncommitted(5));
  rank.end_commit(FileState::whole);
  CHECK(!rank.has_uncommitted(5));
}
