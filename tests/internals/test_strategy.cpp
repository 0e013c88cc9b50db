// The choice whether cells stay on their node or go to I/O ranks: counts and settings in, decision and reason
// out.
#include <doctest/doctest.h>

#include "base/error.hpp"
#include "rearrange/strategy.hpp"

using namespace shoal;

namespace {

RearrangeOptions with_rearrange(Rearrange rearrange) {
  RearrangeOptions options;
  options.rearrange = rearrange;
  return options;
}

RearrangeOptions with_way(RearrangerKind variant) {
  RearrangeOptions options;
  options.rearranger = variant;
  return options;
}

RearrangeOptions with_io_ranks(int n) {
  RearrangeOptions options;
  options.io_ranks = n;
  return options;
}

const Strategy k_by_cost{Rearranging::by_cost, {}, true};

FieldCounts counts(double runs, double run_bytes, int io_ranks, double box_runs) {
  FieldCounts out;
  out.runs = runs;
  out.bytes = runs * run_bytes;
  out.field_bytes = out.bytes;
  out.io_ranks = io_ranks;
  out.box_runs = box_runs;
  return out;
}

}  // namespace

TEST_CASE("settings and file systems decide before anything is counted") {
  const auto off = with_rearrange(Rearrange::off);
  const auto on = with_rearrange(Rearrange::on);
  const auto box = with_way(RearrangerKind::box);
  const auto subset = with_way(RearrangerKind::subset);
  RearrangeOptions several = on;
  several.io_ranks = 3;
  RearrangeOptions stride;
  stride.io_stride = 2;
  const JobFacts one{1, false, {}, false};
  const JobFacts four{4, false, {}, false};
  const JobFacts nfs{4, true, "nfs", false};
  const auto never = Rearranging::never;
  const auto by_cost = Rearranging::by_cost;
  const auto always = Rearranging::always;
  struct Row {
    RearrangeOptions options;
    JobFacts facts;
    Rearranging rearranging;
    std::string why;
  };
  for (const Row& row :
       {Row{{}, one, never, ""}, Row{{}, four, by_cost, ""}, Row{off, one, never, ""},
        Row{off, four, by_cost, ""},  // may yet be refused, by counts
        Row{subset, four, by_cost, ""}, Row{on, one, always, "rearrange=on"},
        Row{on, four, always, "rearrange=on"}, Row{box, four, always, "rearranger=box"},
        Row{with_io_ranks(2), one, always, "I/O ranks are set"},
        Row{stride, four, always, "I/O ranks are set"}, Row{several, four, always, "rearrange=on"},
        Row{{}, nfs, always, "nodes do not see each other's writes on nfs"},
        Row{on, nfs, always, "nodes do not see each other's writes on nfs"}}) {
    CAPTURE(row.why);
    CAPTURE(row.facts.nodes);
    const Strategy strategy = choose_strategy(row.options, row.facts);
    CHECK(strategy.rearranging == row.rearranging);
    CHECK(strategy.why == row.why);
    CHECK(strategy.nodes_can_store);
  }
  CHECK(setting_that_keeps(off) == "rearrange=off");
  CHECK(setting_that_keeps(subset) == "rearranger=subset");
  CHECK(setting_that_keeps(on).empty());
  CHECK(setting_that_rearranges(subset).empty());
}

TEST_CASE("counts of a decomposition") {
  const JobFacts plain{4, false, {}, false};
  const JobFacts records{4, false, {}, true};
  const auto off = with_rearrange(Rearrange::off);
  constexpr std::int64_t k_long = 16 * 1024;
  constexpr std::int64_t k_most = 64 * 1024;
  struct Row {
    RearrangeOptions options;
    JobFacts facts;
    CellCounts counts;
    Rearranging rearranging;
    std::string why;
    bool nodes_can_store;
  };
  for (const Row& row : {
           Row{{}, plain, {10, 10 * k_long, 5}, Rearranging::by_cost, "", true},
           Row{{}, records, {10, 10 * k_long, 5}, Rearranging::never, "", true},  // long, whatever the type
           Row{{}, records, {10, 10 * k_long - 1, 5}, Rearranging::by_cost, "", true},
           Row{{}, records, {10, 10 * k_long, k_most + 1}, Rearranging::by_cost, "", false},
           Row{{}, plain, {1, 1, k_most}, Rearranging::by_cost, "", true},
           Row{off, plain, {10, 10, 5}, Rearranging::never, "rearrange=off", true},
           Row{with_way(RearrangerKind::subset),
               records,
               {10, 10, k_most},
               Rearranging::never,
               "rearranger=subset",
               true},
           Row{with_io_ranks(3), plain, {10, 10, 5}, Rearranging::always, "I/O ranks are set", true},
       }) {
    CAPTURE(row.counts.cells);
    CAPTURE(row.counts.most_runs);
    CAPTURE(row.why);
    const Strategy strategy = choose_strategy(row.options, row.facts, row.counts);
    CHECK(strategy.rearranging == row.rearranging);
    CHECK(strategy.why == row.why);
    CHECK(strategy.nodes_can_store == row.nodes_can_store);
  }
  CHECK_THROWS_WITH_AS(choose_strategy(off, plain, {1, 1, k_most + 1}),
                       doctest::Contains("rearrange=off, but the cells of a map that a node has are 65537"),
                       Error);
}

TEST_CASE("costs of a field") {
  struct Row {
    Strategy strategy;
    FieldCounts counts;
    bool rearrange;
    std::string why;
  };
  FieldCounts unfit = counts(6400, 1312, 16, 80);
  unfit.boxes_fit = false;
  FieldCounts of_one_rank = unfit;
  of_one_rank.one_rank = true;
  FieldCounts fits_one_rank = of_one_rank;
  fits_one_rank.boxes_fit = true;
  const Strategy set{Rearranging::always, "I/O ranks are set", true};
  const Strategy too_many{Rearranging::by_cost, {}, false};
  const std::string section = "a section that cuts dimensions between others that are cut";
  for (const Row& row : {
           Row{k_by_cost, counts(6400, 1312, 16, 80), true, ""},
           Row{k_by_cost, counts(10, 839680, 16, 80), false, ""},     // long runs
           Row{k_by_cost, counts(100, 16 * 1024, 16, 1), false, ""},  // just long enough
           Row{k_by_cost, counts(100, 16 * 1024 - 1, 16, 1), true, ""},
           Row{k_by_cost, counts(64, 64, 16, 17), false, ""},  // boxes have not much fewer
           Row{k_by_cost, counts(64, 64, 16, 16), true, ""},
           Row{k_by_cost, counts(0, 0, 16, 16), false, ""},
           Row{k_by_cost, unfit, false, section},
           Row{too_many, counts(10, 839680, 16, 80), true, ""},
           Row{{Rearranging::never, "rearrange=off", true},
               counts(6400, 1312, 16, 80),
               false,
               "rearrange=off"},
           Row{{Rearranging::always, "rearranger=box", true}, counts(1, 1e9, 16, 80), true, "rearranger=box"},
           Row{set, unfit, true, "I/O ranks are set"},  // and is refused where it is sent
           Row{set, of_one_rank, false, "a section of a field that one rank has"},
           Row{set, fits_one_rank, true, "I/O ranks are set"},
           Row{k_by_cost, of_one_rank, false, section},
       }) {
    CAPTURE(row.counts.runs);
    CAPTURE(row.counts.bytes);
    CAPTURE(row.why);
    const FieldStrategy chosen = choose_field_strategy(row.strategy, row.counts);
    CHECK(chosen.rearrange == row.rearrange);
    CHECK(chosen.why == row.why);
  }
  CostModel slow_network;
  slow_network.short_run = 1024;
  CHECK(!choose_field_strategy(k_by_cost, counts(6400, 1312, 16, 80), slow_network).rearrange);
}

TEST_CASE("lines of the report") {
  const auto line = [](const RearrangeOptions& options, const Strategy& strategy, const FieldCounts& c) {
    return report_text(options, strategy, choose_field_strategy(strategy, c), c);
  };
  CHECK(
      line({}, k_by_cost, counts(6400, 1024, 16, 80)) ==
      "rearrange: nodes would store 6400 runs of 1.0 KiB; 16 I/O ranks store 16 boxes of 400.0 KiB, 80 runs");
  CHECK(line({}, k_by_cost, counts(1, 1024, 1, 1)) ==
        "local: nodes store 1 run of 1.0 KiB; 1 I/O rank would store 1 box of 1.0 KiB");
  CHECK(line(with_rearrange(Rearrange::off), {Rearranging::never, "rearrange=off", true},
             counts(2e6, 1024, 0, 0)) == "local: rearrange=off; nodes store 2e+06 runs of 1.0 KiB");
  CHECK(line(with_way(RearrangerKind::subset), {Rearranging::never, "rearranger=subset", true},
             counts(2, 1024, 0, 0)) == "local: rearranger=subset; groups store 2 runs of 1.0 KiB");
  FieldCounts unknown = counts(0, 0, 2, 0);
  unknown.counted = false;
  unknown.field_bytes = 2048;
  CHECK(line({}, {Rearranging::always, "rearrange=on", true}, unknown) ==
        "rearrange: rearrange=on; 2 I/O ranks store 2 boxes of 1.0 KiB");
  SentChunks sent{8, 3, 4096, 1024, 2, true};
  CHECK(report_text(k_by_cost, sent) ==
        "rearrange: a chunk is compressed as a whole; 3 of 8 chunks have cells of several nodes, 1.0 KiB of "
        "4.0 "
        "KiB go to another node; 2 ranks compress 8 chunks");
  sent = {1, 0, 0, 0, 1, false};
  CHECK(report_text({Rearranging::always, "rearranger=box", true}, sent) ==
        "rearrange: rearranger=box; 1 rank compresses 1 chunk");
  CHECK(report_text_of_decoded(1, 4) ==
        "local: each node decodes what its ranks read; nodes decode 1 chunk of 4");
  CHECK(report_text_of_groups(1, 4) == "subset: 1 I/O rank stores what 4 ranks have");
  CHECK(report_text_of_groups(3, 1) == "subset: 3 I/O ranks store what 1 rank has each (in rank 0's group)");
}

TEST_CASE("settings that contradict each other") {
  RearrangeOptions options = with_way(RearrangerKind::box);
  options.rearrange = Rearrange::off;
  CHECK_THROWS_WITH_AS(check_rearranging(options, 0), doctest::Contains("rearranger=box and rearrange=off"),
                       Error);
  options = with_io_ranks(2);
  options.rearrange = Rearrange::off;
  CHECK_THROWS_WITH_AS(check_rearranging(options, 0), doctest::Contains("rearrange=off and settings of I/O"),
                       Error);
  options.rearranger = RearrangerKind::subset;
  check_rearranging(options, 1);
  CHECK_THROWS_WITH_AS(check_rearranging(options, 2), doctest::Contains("rearranger=subset and writers=2"),
                       Error);
  options.rearrange = Rearrange::on;
  CHECK_THROWS_WITH_AS(check_rearranging(options, 0), doctest::Contains("rearranger=subset and rearrange=on"),
                       Error);
  check_rearranging(with_rearrange(Rearrange::on), 4);
}
