// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "driver/native/field_job.hpp"
#include "driver/native/file_header.hpp"
#include "driver/native/rank_groups.hpp"
#include "driver/native/strategies.hpp"
#include "driver/protocol/protocol.hpp"

namespace shoal {

/// References to the parts of one open file, for the paths of a field. The driver owns all of them, and
/// outlives the paths.
struct NativeContext {
  const Comm& comm;
  const DriverOptions& options;
  bool writable;
  Counters& counters;
  ObjectFiles& file;
  RankGroups& groups;
  FileHeader& header;
  RecordState& records;
  CollectiveState& state;
  FieldStrategies& strategies;

  /// The job of a transfer, which must outlive it.
  FieldJob job_for(const Transfer& transfer) const;
  /// Has the decomposition unowned cells that keep the values of the file?
  bool may_keep(const Decomposition& decomposition, const VariableDef& variable) const;
  /// The same in a write.
  bool may_keep(const Transfer& transfer) const;
};

}  // namespace shoal
