// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "driver/native/path/sending.hpp"
#include "driver/rearrangers.hpp"
#include "rearrange/rearrange_queue.hpp"

namespace shoal {

/// The Rearrangers of one file: of maps whose cells may be sent to I/O ranks, and of tiles, which become maps
/// for that; and what these share.
class NativeRearrangers {
 public:
  explicit NativeRearrangers(const NativeContext& context) : context_(context) {}

  /// Is there none? Then ranks send each other no cells of fields that are not compressed.
  bool empty() const { return !rearrangers_ || rearrangers_->empty(); }
  /// Does everything go through the one stage of all ranks, in which they keep in step without messages?
  bool one_stage() const { return context_.groups.single() && empty(); }

  /// Error(setting): cells of a map may have to be sent, as some may stay in a variable of the schema, and
  /// the settings do not allow it.
  void check_kept_cells(const CutStrategy& cut, const Schema& schema) const;
  /// Makes that of a map, if its cells may be sent. Collective.
  void find(CutStrategy& cut);
  /// Must cells of the job be sent, as some stay in the file between them, where those of its map were not so
  /// far? The same on all ranks that made the same calls. Local.
  bool must_begin_sending(const FieldJob& job) const;
  /// From now on cells of the map are sent. Collective.
  void begin_sending(CutStrategy& cut);
  /// The map that stands for tiles, with the cells around them or without. Collective the first time.
  std::shared_ptr<const Decomposition> map_of(const std::shared_ptr<const Decomposition>& block, bool halo);
  /// Of the transfer's map, or the one that stands for its tiles; nullptr: there is none. Local.
  Rearranger* of(const Transfer& transfer) const;
  Rearranger* known(const Transfer& transfer) const;

  /// What the job is where its I/O ranks' boxes are cut out of one row of cells.
  struct Row {
    Transfer transfer;
    Placement placement;
  };
  /// Are stripes asked for, and are the job's cells a row in the file? Rows of a grid seldom end where
  /// stripes do. It may be another answer once it is known where the file has the variable.
  bool is_flattened(const FieldJob& job) const;
  /// The job as one of the row, if it goes as such. `row` outlives it.
  FieldJob as_flattened(const FieldJob& job, bool goes, Row& row) const;

  /// Of all maps, in a file that is written; nullptr as long as there is none.
  RearrangeQueue* queue() { return queue_ ? &*queue_ : nullptr; }
  const RearrangeQueue* queue() const { return queue_ ? &*queue_ : nullptr; }
  void count_messages() { rearrangers_->count_messages(context_.counters); }

 private:
  Rearranger* find(const Decomposition* map) const {
    return rearrangers_ ? rearrangers_->find(map) : nullptr;
  }
  std::shared_ptr<const Decomposition> known_map(const std::shared_ptr<const Decomposition>& cut) const;
  Rearrangers& made();
  void add(const std::shared_ptr<const Decomposition>& map);

  const NativeContext& context_;
  std::optional<Rearrangers> rearrangers_;  ///< once cells may be sent
  std::optional<RearrangeQueue> queue_;
  DecompositionPlans<std::shared_ptr<const Decomposition>> rows_;  ///< of maps, as rows
};

}  // namespace shoal
