// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "driver/native/field_job.hpp"
#include "driver/native/file_header.hpp"
#include "driver/native/rank_groups.hpp"
#include "driver/native/strategies.hpp"
#include "driver/protocol.hpp"

namespace shoal {

/// What the paths of a field work on, all of one open file: the driver owns it, and it outlives them.
struct NativeContext {
  const Comm& comm;
  const DriverOptions& options;
  bool writable;
  Counters& counters;
  NativeFile& file;
  RankGroups& groups;
  FileHeader& header;
  RecordState& records;
  CollectiveState& state;
  FieldStrategies& strategies;

  /// The transfer, which outlives the job, with what is known of its variable and decomposition.
  FieldJob job_for(const Transfer& transfer) const;
  /// Are there cells that nobody owns, which stay as they are in the file if it has any?
  bool may_keep(const Decomposition& decomposition, const VariableDef& variable) const;
};

}  // namespace shoal
