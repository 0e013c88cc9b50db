// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "driver/native/path/rearranged_path.hpp"

namespace shoal {

/// Fields whose cells go to I/O ranks wait for each other here, so that a record takes one rearrangement.
/// Until it is full ranks need no message to write: they find out together whether all of them have the same.
class FieldQueue {
 public:
  FieldQueue(const NativeContext& context, ChunkAddresses& addresses, NativeRearrangers& rearrangers,
             StagedPath& staged, RearrangedPath& rearranged, SendBuffers& buffers)
      : context_(context),
        addresses_(addresses),
        rearrangers_(rearrangers),
        staged_(staged),
        rearranged_(rearranged),
        buffers_(buffers) {}

  /// Can fields wait at all?
  bool is_made() const { return rearrangers_.queue() != nullptr; }
  /// How the field would wait; none: it cannot. Local, the same on all ranks.
  std::optional<Rearranger::Plan> plan_of(const FieldJob& job) const;
  bool fits(const Rearranger::Plan& plan) const { return rearrangers_.queue()->fits(plan); }
  /// Do cells of the field wait already? in_same_boxes: cells that come again go to the ranks that had them
  /// before, in order, and do not count.
  bool waits(const FieldJob& job, bool in_same_boxes) const;

  /// The field waits from now on. Local; the Status is of this rank's values.
  Status add(const FieldJob& job, const Rearranger::Plan& plan);
  /// Fields that wait are stored, if all ranks have the same; else nobody has them any more. Collective.
  void send(bool same);

 private:
  struct Queued {
    Transfer transfer;  ///< without cells
    const NodeShare* share = nullptr;
    bool is_row = false;  ///< its boxes were cut out of a row of cells
  };
  /// Errors are deferred, and none are placed then.
  bool place(std::vector<FieldJob>& jobs);

  const NativeContext& context_;
  ChunkAddresses& addresses_;
  NativeRearrangers& rearrangers_;
  StagedPath& staged_;
  RearrangedPath& rearranged_;
  SendBuffers& buffers_;
  std::vector<Queued> queued_;
  std::map<int, std::vector<std::size_t>> queued_of_;  ///< of each variable
};

}  // namespace shoal
