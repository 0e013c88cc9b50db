// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "driver/native/path/sending.hpp"
#include "driver/rearrangers.hpp"
#include "rearrange/rearrange_queue.hpp"

namespace shoal {

/// The Rearrangers of one file, for maps whose cells may be sent to I/O ranks and for tiles, which become
/// maps for that, with the queue and the counters that they share.
class NativeRearrangers {
 public:
  explicit NativeRearrangers(const NativeContext& context) : context_(context) {}

  /// Is there no Rearranger? Then ranks send no cells of fields that are not compressed.
  bool empty() const { return !rearrangers_ || rearrangers_->empty(); }
  /// Do all fields go through one stage of all ranks, in which ranks keep in step without messages?
  bool one_stage() const { return context_.groups.single() && empty(); }

  /// Error(setting): a variable of the schema may have unowned cells that keep their values, so that cells of
  /// the map must be sent, which the settings forbid.
  void check_kept_cells(const CutStrategy& cut, const Schema& schema) const;
  /// Makes the Rearranger of a map, if its cells may be sent. Collective.
  void find(CutStrategy& cut);
  /// Must cells of the job's map be sent from now on, since unowned cells between them keep their values? The
  /// same on all ranks that made the same calls. Local.
  bool must_begin_sending(const FieldJob& job) const;
  /// Begins to send cells of the map. Collective.
  void begin_sending(CutStrategy& cut);
  /// The map of the cells of tiles, with halo or without. Collective the first time.
  std::shared_ptr<const Decomposition> map_of(const std::shared_ptr<const Decomposition>& block, bool halo);
  /// The Rearranger of the transfer's map, or of the map of its tiles; nullptr: none. Local.
  Rearranger* of(const Transfer& transfer) const;
  Rearranger* known(const Transfer& transfer) const;

  /// The job as a one-dimensional row of cells, out of which the boxes of I/O ranks are cut.
  struct Row {
    Transfer transfer;
    Placement placement;
  };
  /// Are boxes to be aligned with stripes, and are the job's cells one row in the file? (Rows of a grid
  /// seldom end at stripes.) The answer may change once the variable has its address in the file.
  bool is_flattened(const FieldJob& job) const;
  /// The job as a row if `goes`, else the job itself. `row` must outlive it.
  FieldJob as_flattened(const FieldJob& job, bool goes, Row& row) const;

  /// The queue of all maps, in a file that is written; nullptr: there is none yet.
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
