// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "driver/native/path/rearranged_path.hpp"

namespace shoal {

/// The queue of fields whose cells go to I/O ranks, so that all fields of a record take one rearrangement.
/// Until it is full a write needs no message; then ranks compare what they have queued.
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

  /// Is there a queue?
  bool is_made() const { return rearrangers_.queue() != nullptr; }
  /// The plan of the field in the queue; none: it cannot wait. Local, the same on all ranks.
  std::optional<Rearranger::Plan> plan_of(const FieldJob& job) const;
  bool fits(const Rearranger::Plan& plan) const { return rearrangers_.queue()->fits(plan); }
  /// Are cells of the field queued already? in_same_boxes: cells that are sent to the same ranks again stay
  /// in order, and do not count.
  bool waits(const FieldJob& job, bool in_same_boxes) const;

  /// Queues the field. Local; the Status is of this rank's values.
  Status add(const FieldJob& job, const Rearranger::Plan& plan);
  /// Stores the queued fields (same), or drops them where ranks have queued different ones. Collective.
  void send(bool same);

 private:
  struct Queued {
    Transfer transfer;  ///< without cells
    const NodeShare* share = nullptr;
    bool is_row = false;  ///< its boxes were cut out of a row of cells
  };
  /// Finds the addresses of all jobs; false: an error was deferred.
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
