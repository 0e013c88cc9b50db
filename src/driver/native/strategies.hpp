// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decomp/node_share.hpp"
#include "driver/decomposition_plans.hpp"
#include "driver/driver.hpp"
#include "driver/native/field_job.hpp"
#include "driver/native/rank_groups.hpp"
#include "rearrange/strategy.hpp"

namespace shoal {

/// The cells of a decomposition that a node has, and the strategy for its fields.
struct CutStrategy {
  /// A kind of its fields: values of a size, in a region of so many times the decomposition's cells.
  struct Field {
    std::size_t size = 0;
    Dims chunk;
    std::int64_t outer_dims = 0;
    bool boxes_fit = true;  ///< I/O ranks can have boxes of the section
    bool encoded = false;
    bool rearrange = false;
    Seconds store = 0;  ///< all ranks' time of storing, by measured figures; 0: not known

    bool is_like(const Field& other) const {
      return size == other.size && chunk == other.chunk && outer_dims == other.outer_dims &&
             boxes_fit == other.boxes_fit && encoded == other.encoded;
    }
  };
  std::shared_ptr<const Decomposition> decomposition;
  NodeShare share;
  Strategy strategy;
  std::int64_t runs = 0, cells = 0;  ///< that all nodes together would store; 0: not counted
  std::vector<Field> fields;         ///< the kinds of fields so far
};

/// The strategies of all decompositions: counts over ranks what rearrange/strategy.hpp chooses by, keeps the
/// choices, and reports them.
class FieldStrategies {
 public:
  FieldStrategies(const Comm& comm, const RankGroups& groups, const DriverOptions& options,
                  Counters& counters, const Schema& schema)
      : comm_(comm),
        groups_(groups),
        driver_options_(options),
        options_(options.rearranging),
        counters_(counters),
        schema_(schema) {
    if (options.machine) model_.figures = &*options.machine;
  }

  /// Nodes do not see each other's writes: these ranks, of one node, store for all.
  void let_one_node_store(std::vector<int> io_ranks) {
    one_node_stores_ = true;
    io_ranks_ = std::move(io_ranks);
  }
  bool one_node_stores() const { return one_node_stores_; }
  void set_io_ranks(std::vector<int> ranks) { io_ranks_ = std::move(ranks); }
  /// The ranks that store and fetch boxes. Collective the first time.
  const std::vector<int>& io_ranks();

  bool has(const Decomposition* cut) const { return cuts_.find(cut) != nullptr; }
  const CutStrategy& of(const Decomposition* cut) const { return cuts_.at(cut); }
  CutStrategy& of(const Decomposition* cut) { return cuts_.at(cut); }
  /// All strategies with their decompositions, in the order in which they were kept, the same on all ranks.
  DecompositionPlans<CutStrategy>& all() { return cuts_; }
  /// The strategy of a new decomposition, as far as it does not depend on the fields; to be kept.
  /// Error(setting) on all ranks alike. Collective.
  CutStrategy choose(const std::shared_ptr<const Decomposition>& cut) const;
  void keep(CutStrategy chosen) {
    auto decomposition = chosen.decomposition;
    cuts_.add(std::move(decomposition), std::move(chosen));
  }

  /// Are cells of the field sent to I/O ranks? Collective where those of the decomposition may be sent.
  bool rearranges(const FieldJob& job);
  /// What is known of fields like this; nullptr: nothing yet. Local.
  const CutStrategy::Field* known(const FieldJob& job) const;

  /// Adds the time that the figures predict for the field to the report. Local.
  void note_write(const FieldJob& job);

  /// A report line of the field's chunks that were sent, and of those that nodes decode by themselves (the
  /// first time). Collective.
  void report_sent(const FieldJob& job, SentChunks sent);
  void report_decoded(const FieldJob& job);
  void add_line(const std::string& line);

 private:
  JobFacts facts() const;
  void count_map(CutStrategy& cut, CellCounts& counts) const;
  FieldCounts count(const CutStrategy& cut, const FieldJob& job, const CutStrategy::Field& field);
  void choose(const CutStrategy& cut, const FieldJob& job, CutStrategy::Field& field);
  void count_storers(const CutStrategy& cut, const FieldJob& job, FieldCounts& counts) const;
  void agree_on_storers(FieldCounts& counts) const;
  void report_one_node(CutStrategy& cut, const FieldJob& job);

  const Comm& comm_;
  const RankGroups& groups_;
  const DriverOptions& driver_options_;
  const RearrangeOptions& options_;
  Counters& counters_;
  const Schema& schema_;
  bool one_node_stores_ = false;
  std::vector<int> io_ranks_;
  CostModel model_;
  DecompositionPlans<CutStrategy> cuts_;
};

}  // namespace shoal
