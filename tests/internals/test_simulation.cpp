// Simulations at scale: what comes out fits together, and a sample says the same as all.
#include <doctest/doctest.h>

#include <numeric>

#include "simulate/explained.hpp"
#include "simulate/groups.hpp"
#include "simulate/simulation.hpp"

using namespace shoal;

namespace {

SimulatedField tiles(const Dims& global, int ny, int nx, int nodes) {
  SimulatedField field;
  field.global = global;
  field.ranks = ny * nx;
  field.nodes = nodes;
  field.tile = [global, ny, nx](int rank) {
    Box box = Box::whole(global);
    const int n = global.size();
    const auto part = [&](int d, std::int64_t place, std::int64_t parts) {
      box.first[d] = place * global[d] / parts;
      box.count[d] = (place + 1) * global[d] / parts - box.first[d];
    };
    part(n - 1, rank % nx, nx);
    part(n - 2, rank / nx, ny);
    return box;
  };
  field.corners = {0, nx - 1, field.ranks - nx, field.ranks - 1};
  return field;
}

}  // namespace

TEST_CASE("figures: least, median, most, sum, and whose they are") {
  Collector<std::int64_t> numbers;
  CHECK(numbers.figures().count == 0);
  const std::vector<std::int64_t> values{5, 9, 1, 9, 1};
  for (std::size_t i = 0; i < values.size(); ++i)
    numbers.add(values[i], static_cast<std::int64_t>(10 + i));
  const auto f = numbers.figures();
  CHECK(f.count == 5);
  CHECK(f.least == 1);
  CHECK(f.median == 5);
  CHECK(f.most == 9);
  CHECK(f.sum == 25);
  CHECK(f.who_least == 12);
  CHECK(f.who_most == 11);
}

TEST_CASE("tiles on many nodes: all cells are stored once, with and without I/O ranks") {
  const SimulatedField field = tiles({3, 90, 120}, 20, 30, 24);
  SimulationRequest request;
  request.field = field;
  const std::int64_t bytes = volume(field.global) * 4;
  Simulation direct = simulate(request);
  CHECK(!direct.rearranged);
  CHECK(direct.ranks == 600);
  CHECK(direct.loads.count == 24);
  CHECK(direct.loads.sum == bytes);
  CHECK(direct.extent_bytes.sum == bytes);
  CHECK(direct.extents.sum == direct.extent_bytes.count);
  for (const int io : {1, 3, 24, 90, 200}) {
    CAPTURE(io);
    request.options.rearranging.io_ranks = io;
    const Simulation out = simulate(request);
    CHECK(out.rearranged);
    CHECK(out.writers == io);
    CHECK(out.loads.count == io);
    CHECK(out.loads.sum == bytes);
    CHECK(out.extent_bytes.sum == bytes);
    CHECK(out.messages.sum == out.writer_messages.sum);
    CHECK(out.bytes.sum == out.writer_bytes.sum);
    CHECK(out.node_messages.sum == out.node_takes_messages.sum);
    CHECK(out.node_bytes.sum == out.node_takes_bytes.sum);
    CHECK(out.node_bytes.sum <= out.bytes.sum);
    CHECK(out.bytes.sum <= bytes + 32 * out.messages.sum);  // with heads of messages
  }
}

TEST_CASE("a sample has whole nodes, the corners' too, and its figures are those of all") {
  const SimulatedField field = tiles({2, 120, 120}, 30, 40, 60);
  for (const int io : {0, 60}) {
    CAPTURE(io);
    SimulationRequest request;
    request.field = field;
    request.options.rearranging.io_ranks = io;
    const Simulation all = simulate(request);
    CHECK(all.ranks == 1200);
    request.budget = 0;
    request.least_nodes = 7;
    const Simulation sample = simulate(request);
    CHECK(sample.nodes >= 7);
    CHECK(sample.nodes < 12);
    CHECK(sample.ranks == 20 * sample.nodes);
    CHECK(sample.loads.count == sample.nodes);  // an I/O rank on each node, or the node itself
    CHECK(sample.loads.most <= all.loads.most);
    CHECK(sample.loads.least >= all.loads.least);
    CHECK(sample.node_takes_messages.most <= all.node_takes_messages.most);
    CHECK(sample.node_messages.most <= all.node_messages.most);
    if (io == 0) continue;
    // A cut that is the same everywhere: so are the figures.
    CHECK(sample.writer_bytes.median == all.writer_bytes.median);
    CHECK(sample.bytes.median == all.bytes.median);
  }
}

TEST_CASE("groups of I/O ranks: each stores what its ranks have, and nothing goes in messages") {
  const SimulatedField field = tiles({3, 90, 120}, 20, 30, 24);
  SimulationRequest request;
  request.field = field;
  request.options.rearranging.rearranger = RearrangerKind::subset;
  for (const int each : {0, 1, 3, 25}) {
    CAPTURE(each);
    request.options.rearranging.io_ranks_per_node = each;
    const Simulation out = simulate(request);
    CHECK(!out.rearranged);
    CHECK(out.writer == Writer::io_rank);
    CHECK(out.groups == 24 * std::max(each, 1));
    CHECK(out.writers == out.groups);
    CHECK(out.nodes == 24);
    CHECK(out.ranks == 600);
    CHECK(out.loads.count == out.groups);
    CHECK(out.loads.sum == volume(field.global) * 4);
    CHECK(out.messages.sum == 0);
    CHECK(out.loads.who_most % 25 % (25 / std::max(each, 1)) == 0);  // an I/O rank's number, not a group's
  }
  // The other way, and fewer of them than all: a sample has whole groups.
  request.options.rearranging.io_ranks_per_node = 5;
  request.budget = 0;
  request.least_nodes = 7;
  const Simulation sample = simulate(request);
  CHECK(sample.groups >= 7);
  CHECK(sample.groups < 24);
  CHECK(sample.nodes <= sample.groups);
  CHECK(sample.ranks == 5 * sample.groups);
  // Stride and base count the ranks of a node; the first group has those before its I/O rank too.
  request.options.rearranging.io_ranks_per_node = 0;
  request.options.rearranging.io_stride = 10;
  request.options.rearranging.io_base = 4;
  const SimulatedGroups groups = simulated_groups(field, request.options);
  CHECK(std::vector<int>(groups.io_ranks.begin(), groups.io_ranks.begin() + 4) == std::vector{4, 14, 24, 29});
  CHECK(groups.field.first_of_node(1) == 14);
  CHECK(groups.field.first_of_node(3) == 25);
}

TEST_CASE("groups that cannot be are refused as the library refuses them") {
  SimulationRequest request;
  request.field = tiles({90, 120}, 4, 6, 4);
  request.options.rearranging.rearranger = RearrangerKind::subset;
  request.options.rearranging.io_ranks = 3;
  CHECK_THROWS_WITH_AS(simulate(request), doctest::Contains("has no I/O rank"), Error);
  request.options.rearranging.io_ranks = 0;
  request.options.stage.writers = 2;
  CHECK_THROWS_WITH_AS(simulate(request), doctest::Contains("writers=2"), Error);
  request.options.stage.writers.reset();
  request.options.rearranging.rearrange = Rearrange::on;
  CHECK_THROWS_WITH_AS(simulate(request), doctest::Contains("rearrange=on"), Error);
  request.options.rearranging.rearrange = Rearrange::automatic;
  request.native = false;
  CHECK_THROWS_WITH_AS(simulate(request), doctest::Contains("driver native"), Error);
  request.native = true;
  request.options.rearranging.rearrange = Rearrange::off;
  request.options.rearranging.rearranger = RearrangerKind::box;
  CHECK_THROWS_WITH_AS(simulate(request), doctest::Contains("rearrange=off"), Error);
}

TEST_CASE("lists of who sends to which I/O rank grow with those that get something, not with all") {
  const auto kept = [](int ranks) {
    SimulatedField field;
    const std::int64_t own = 100;
    field.global = {ranks * own};
    field.ranks = ranks;
    field.nodes = ranks / 50;
    field.cells = [own](int rank) {
      std::vector<std::int64_t> cells(static_cast<std::size_t>(own));
      std::iota(cells.begin(), cells.end(), rank * own);
      return cells;
    };
    SimulationRequest request;
    request.field = field;
    request.options.rearranging.io_ranks = ranks;
    const Simulation out = simulate(request);
    CHECK(out.rearranged);
    return out.kept_bytes.most - std::int64_t{4} * ranks;  // the list of I/O ranks
  };
  const std::int64_t few = kept(500);
  CHECK(few < 16 * 1024);
  CHECK(kept(5000) == few);
}

TEST_CASE("what cannot be simulated is refused") {
  SimulationRequest request;
  request.field = tiles({10, 10}, 2, 2, 2);
  request.options.rearranging.io_ranks = 5;
  CHECK_THROWS_AS(simulate(request), Error);
  request.options.rearranging.io_ranks = 2;
  request.field.tile = {};
  request.field.cells = [](int) { return std::vector<std::int64_t>{0, 1, 2}; };
  CHECK_THROWS_AS(simulate(request), Error);  // cells of several ranks
  request.options.rearranging.io_ranks = 0;
  request.field.nodes = 1;
  CHECK_THROWS_AS(simulate(request), Error);
}

TEST_CASE("what is explained of a write is what its simulation counts") {
  const auto writes = [](const Explained& explained) {
    std::int64_t sum = 0;
    for (const auto& node : explained.nodes)
      sum += node.writes;
    return sum;
  };
  SimulationRequest request;
  request.field = tiles({3, 90, 120}, 4, 6, 4);
  for (const RearrangerKind variant : {RearrangerKind::automatic, RearrangerKind::subset}) {
    request.options.rearranging.rearranger = variant;
    request.options.rearranging.io_ranks_per_node = variant == RearrangerKind::subset ? 2 : 0;
    const Explained explained = explain(request);
    const Simulation out = simulate(request);
    CHECK(!explained.rearranged);
    CHECK(writes(explained) == out.extents.sum);
    CHECK(explained.nodes.size() == static_cast<std::size_t>(variant == RearrangerKind::subset ? 8 : 4));
    CHECK(explained.nodes.back().io_rank == (variant == RearrangerKind::subset ? 21 : -1));
    CHECK(explained.nodes.back().first + explained.nodes.back().count == 24);
  }
  request.options = {};
  request.options.rearranging.io_ranks = 5;
  Explained boxes = explain(request);
  const Simulation out = simulate(request);
  CHECK(boxes.rearranged);
  CHECK(boxes.setting == out.why);
  CHECK(boxes.boxes.size() == out.boxes.size());
  std::int64_t runs = 0;
  for (std::size_t i = 0; i < boxes.boxes.size(); ++i) {
    CHECK(boxes.boxes[i].stored.rank == out.boxes[i].rank);
    CHECK(boxes.boxes[i].stored.cells == out.boxes[i].cells);
    runs += boxes.boxes[i].runs;
  }
  CHECK(runs == out.extents.sum);
  CHECK(boxes.by_nodes);
  CHECK(boxes.window_bytes == 3 * 90 * 120 * 4);
  // Ranks that serve have the numbers behind those that compute, and all of them store.
  request.options = {};
  request.options.background.stored_by = StoredBy::ranks;
  request.options.servers.count = 8;
  request.options.rearranging.rearrange = Rearrange::on;
  boxes = explain(request);
  CHECK(boxes.boxes.size() == 8);
  CHECK(boxes.boxes.front().stored.rank == 24);
  request.options.rearranging.rearrange = Rearrange::off;
  CHECK(explain(request).stage.writers == 2);
  request.options.stage.writers = 3;
  CHECK_THROWS_WITH_AS(explain(request), doctest::Contains("that serve"), Error);
}
