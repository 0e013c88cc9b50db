// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "driver/native/path/paths.hpp"

namespace shoal {

/// How a field is written.
struct Route {
  bool sends = false;                    ///< ranks send cells of some fields, if not of this one
  bool matches = true;                   ///< ranks must come together first
  bool begins_sending = false;           ///< and cells of its map are sent from now on
  std::optional<Rearranger::Plan> plan;  ///< it can wait for others, and goes with them
  bool after_queue = false;  ///< not before all that waited is stored: some of it has the same cells
  bool together = false;     ///< ranks store it together, with messages
};

/// Says which path a field takes, and what must come before, so that cells that are written again end as they
/// were written last. The same on all ranks that made the same calls. Local, unless it says otherwise.
class FieldRouter {
 public:
  FieldRouter(const NativeContext& context, ChunkAddresses& addresses, NativePaths& paths)
      : context_(context), addresses_(addresses), paths_(paths) {}

  FieldJob job_to_write(const Transfer& transfer) const;
  /// As far as it is known before ranks come together.
  Route route_of(const Transfer& transfer) const;
  /// The rest of it. Collective where it is not known yet whether the field is sent.
  void complete(Route& route, const FieldJob& job) const;
  /// Do ranks need a message to learn where the bytes of a write go?
  bool places_by_message() const;
  /// Was the variable written by another path, so that what it wrote must be in the file before?
  bool changes_path(const FieldJob& job, bool together) const;
  void note_path(const FieldJob& job, bool together) const;
  /// Must chunks of before be in the file, as what they have must be known before they are written?
  bool must_complete_chunks(const FieldJob& job) const;

  /// By its path; together: as Route. Collective over the node, or over all ranks.
  Status write(const FieldJob& job, bool together) const;
  Status read(FieldJob& job) const;

 private:
  Route route_to_io_ranks(const FieldJob& job) const;
  /// Of fields that go to no I/O ranks: must the owner of the header do something before?
  bool needs_the_owner() const;
  bool goes_direct(const FieldJob& job) const;

  const NativeContext& context_;
  ChunkAddresses& addresses_;
  NativePaths& paths_;
};

}  // namespace shoal
