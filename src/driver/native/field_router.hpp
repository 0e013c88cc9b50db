// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "driver/native/path/paths.hpp"

namespace shoal {

/// The way of a field that is written: what comes before (FieldRouter::route_of), and its path (complete).
struct Route {
  bool sends = false;                    ///< ranks send cells of some fields, perhaps not of this one
  bool matches = true;                   ///< ranks match calls before
  bool begins_sending = false;           ///< cells of its map are sent from now on
  bool after_queue = false;              ///< the queue is stored before: it has some of the same cells
  std::optional<Rearranger::Plan> plan;  ///< the path: the field waits in the queue, with this plan
  bool together = false;                 ///< the path: ranks store the field together, with messages
};

/// Chooses the path of a field, and what must be stored before it, so that cells that are written again end
/// as they were written last. The same on all ranks that made the same calls. Local unless marked.
class FieldRouter {
 public:
  FieldRouter(const NativeContext& context, ChunkAddresses& addresses, NativePaths& paths)
      : context_(context), addresses_(addresses), paths_(paths) {}

  FieldJob job_to_write(const Transfer& transfer) const;
  /// The route as far as it is known before ranks match calls.
  Route route_of(const FieldJob& job) const;
  /// For fields that are not sent: must the catalog owner do something before?
  bool needs_the_owner() const;
  /// Completes the route. Collective where it is not known yet whether the field is sent.
  void complete(Route& route, const FieldJob& job) const;
  /// Do ranks need a message to learn where the bytes of a write go?
  bool places_by_message() const;
  /// Was the variable written by another path, whose cells must be in the file before?
  bool changes_path(const FieldJob& job, bool together) const;
  void note_path(const FieldJob& job, bool together) const;
  /// Must earlier writes of the job's chunks be in the file, since they are read before they are written?
  bool must_complete_chunks(const FieldJob& job) const;

  /// Writes the job by its path; together: as in Route. Collective over the node, or over all ranks.
  Status write(const FieldJob& job, bool together) const;
  Status read(FieldJob& job) const;

 private:
  Route route_to_io_ranks(const FieldJob& job) const;
  bool goes_direct(const FieldJob& job) const;

  const NativeContext& context_;
  ChunkAddresses& addresses_;
  NativePaths& paths_;
};

}  // namespace shoal
