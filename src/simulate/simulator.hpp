// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/numbered.hpp"
#include "driver/native/field_job.hpp"
#include "driver/native/shapes.hpp"
#include "rearrange/node_messages.hpp"
#include "simulate/simulated_strategy.hpp"
#include "simulate/simulation.hpp"

namespace shoal {

/// One simulation. simulator.cpp has what stays on its node, simulator_rearrange.cpp what goes to I/O ranks.
class Simulator {
 public:
  explicit Simulator(const SimulationRequest& request)
      : request_(request),
        field_(request.field),
        region_(Box::whole(field_.global)),
        chunk_(field_.chunk.empty() ? field_.global : field_.chunk),
        first_(field_.first_of_nodes()),
        chosen_(field_.nodes, true) {}

  Simulation run();

 private:
  // ---- which nodes
  int node_of(int rank) const {
    return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), rank) - first_.begin()) - 1;
  }
  bool is_chosen(int rank) const { return chosen_[node_of(rank)]; }
  /// Seconds that work(0) .. work(n - 1) will take, from some of them.
  template <class Work>
  Seconds projected(int n, Work&& work) const {
    constexpr int k_trial = 64;
    const Seconds start = now();
    int done = 0;
    for (int i = 0; i < std::min(k_trial, n) && (done == 0 || now() - start < request_.budget / 10);
         ++i, ++done)
      work(static_cast<int>(static_cast<std::int64_t>(i) * n / std::min(k_trial, n)));
    return (now() - start) / done * n;
  }
  void choose_nodes(Seconds all);

  // ---- what stays on its node
  Cost plan_block(int rank);
  NodeShare share_of(int node);
  NodeShare plan_share(int rank, Cost& cost);
  void store_direct();
  NodeShare share_by_tiles(int node);
  NodeShare share_by_map(int node);
  void store_through_stage(int node, const NodeShare& share);
  void store_past_stage(int node, const NodeShare& share);

  // ---- cells that go to I/O ranks
  struct Inbox {
    std::vector<RankMessage> runs;
    struct Cells {
      int rank;
      IndexSet where;
    };
    std::vector<Cells> cells;
    std::int64_t bytes() const;
  };
  struct Sent {
    std::vector<RankMessage> runs;
    std::vector<OwnCells> own;
    IndexMap map;
  };
  /// What chosen ranks hear from a rank.
  struct Interest {
    bool runs = true, cells = true;
  };
  Sent plan_first(int rank, const Interest& interests);
  void post(int rank, Sent&& sent);
  void write_from(int rank, const Sent& sent);
  void plan_second(int rank, Cost& cost);
  template <class Visit>
  void box_extents(int box, Visit&& visit) const;
  void store_box(int box);
  void count_message(int from, int to, std::int64_t bytes);
  void count_cells(int from, int box, std::int64_t round, std::int64_t bytes);
  void send_of_node();
  void choose_pieces();
  void end_of_node(Numbered<Cost>& costs);
  void rearrange();
  Numbered<Interest> find_interests() const;

  void note(int rank, const Cost& cost) {
    seconds_.add(cost.seconds, rank);
    peaks_.add(cost.peak, rank);
    kept_.add(cost.kept, rank);
  }

  const SimulationRequest& request_;
  const SimulatedField& field_;
  Box region_;
  Dims chunk_;
  std::vector<int> first_;
  Numbered<bool> chosen_;
  Simulation out_;
  Collector<double> seconds_;
  Collector<std::int64_t> peaks_, kept_, loads_, extents_;
  Tally extent_bytes_;

  std::vector<Box> unowned_;
  Numbered<std::vector<Box>> unowned_of_;

  std::optional<SimulatedStrategy> strategy_;
  std::optional<MappedField> mapped_;
  Numbered<int> io_ranks_;
  Numbered<int> box_of_rank_;  ///< -1: no I/O rank
  SimulatedBoxes boxes_;
  EvenPartition cut_;
  std::int64_t max_cells_ = 0;
  Numbered<Inbox> inboxes_;
  struct Traffic {
    std::int64_t messages = 0, bytes = 0;
    void add(std::int64_t n) {
      ++messages;
      bytes += n;
    }
  };
  // In two levels: what ranks of one node have for an I/O rank in a round.
  bool by_nodes_ = false;
  std::int64_t most_ranks_ = 0;  ///< of a node
  int sending_node_ = -1;
  std::set<int> node_boxes_;  ///< of which its ranks have cells
  struct NodeCells {
    std::int64_t bytes = 0, ranks = 0;
  };
  std::map<std::pair<int, std::int64_t>, NodeCells> node_cells_;
  Numbered<Traffic> rank_sends_, node_sends_, node_takes_, writer_takes_;
};

}  // namespace shoal
