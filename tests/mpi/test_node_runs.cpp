// SPDX-License-Identifier: BSD-3-Clause
// What a node's ranks have of a map, all together, against a plain reference.
#include "decomp/node_runs.hpp"

#include <doctest/doctest.h>

#include "comm/nodes.hpp"
#include "support/random_maps.hpp"

using namespace shoal;
using testing::MapKind;
using testing::random_maps;

namespace {

constexpr std::int64_t k_most = 1 << 20;

/// Which mapped cells a node has: their owners' lists, and its even parts of those that nobody owns.
std::vector<int> cells_of_node(const Nodes& nodes, const Decomposition& map, bool unowned) {
  std::vector<std::int64_t> here(static_cast<std::size_t>(volume(map.mapped_shape())), 0);
  const auto note = [&](const IndexMap::Run& run) {
    for (std::int64_t i = 0; i < run.length; ++i)
      here[static_cast<std::size_t>(run.global + i)] = 1;
  };
  const auto all = static_cast<std::int64_t>(here.size());
  map.map()->for_each_run(0, all, note);
  if (unowned) map.unowned_share().for_each_run(0, all, note);
  here = nodes.node().max(here);
  return {here.begin(), here.end()};
}

}  // namespace

TEST_CASE("the cells of a node's ranks become runs and boxes, each cell once") {
  const Comm comm(MPI_COMM_WORLD);
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Dims mapped;
    for (int d = 1 + pick(3); d > 0; --d)
      mapped.push_back(1 + pick(12));
    const int whole = pick(2);
    Dims global = mapped;
    if (whole == 1) global.push_back(1 + pick(4));
    const MapKind kind{pick(3) * 30, pick(2) * 20, pick(2) == 0 ? 1 : 1 + pick(40), pick(3) == 0};
    const auto lists = random_maps(volume(mapped), comm.size(), kind, random);
    const auto map = Decomposition::map(comm, global, whole, lists[static_cast<std::size_t>(comm.rank())]);
    const Nodes nodes(comm, pick(comm.size() + 1));
    for (const bool unowned : {false, true}) {
      const auto owned = cells_of_node(nodes, *map, unowned);
      std::int64_t runs = 0;
      std::int64_t cells = 0;
      for (std::size_t i = 0; i < owned.size(); ++i) {
        cells += owned[i];
        runs += owned[i] == 1 && (i == 0 || owned[i - 1] == 0) ? 1 : 0;
      }
      const NodeRuns found = runs_of_node(nodes.node(), *map, unowned, k_most);
      CHECK(found.runs == runs);
      CHECK(found.cells == cells);
      std::vector<int> times(owned.size(), 0);
      for (const auto& box : found.boxes) {
        CHECK(Box::whole(global).contains(box));
        const Box part(Dims(std::span(box.first.begin(), static_cast<std::size_t>(mapped.size()))),
                       Dims(std::span(box.count.begin(), static_cast<std::size_t>(mapped.size()))));
        if (whole == 1) CHECK(box.count[mapped.size()] == global[mapped.size()]);
        for (std::int64_t i = 0; i < part.cells(); ++i) {
          Dims index = unravel(i, part.count);
          for (int d = 0; d < index.size(); ++d)
            index[d] += part.first[d];
          ++times[static_cast<std::size_t>(position_in(index, Box::whole(mapped)))];
        }
      }
      CHECK(times == owned);
      const NodeRuns counted = runs_of_node(nodes.node(), *map, unowned, 0);
      CHECK(counted.boxes.empty());
      CHECK(counted.cells == cells);
    }
  }
}
