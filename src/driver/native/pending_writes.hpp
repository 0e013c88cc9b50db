// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "driver/native/path/paths.hpp"

namespace shoal {

/// CallSignature::does of writes.
inline constexpr const char* k_writes = "writes";

/// The steps from writes to a whole file: ranks match calls and compare their writes, pending writes are
/// stored, records are counted, and where a rank diverged records are taken back.
class PendingWrites {
 public:
  PendingWrites(const NativeContext& context, ChunkAddresses& addresses, NativePaths& paths)
      : context_(context),
        comm_(context.comm),
        header_(context.header),
        records_(context.records),
        state_(context.state),
        addresses_(addresses),
        paths_(paths) {}

  /// As Driver.
  CallMatch match_calls(const Comm& comm, const CallSignature& signature);
  Status failure() const;
  /// Matches a write that ranks make together, after which queued fields are stored. Collective. all_before:
  /// ranks compare their earlier writes, too, as they always do where fields are queued.
  Status match_write(const Transfer& transfer, bool all_before);
  /// The same on a rank that refuses the write. Collective.
  Status match_refused_write(const Status& why);
  /// Where threads of several nodes store: ranks ask each other for failures each time they have written as
  /// much as all stages hold. Error on all ranks, in the same call.
  void ask_others();
  /// Completes pending writes: ranks match calls, compare their writes, and store all that waits. Collective.
  void complete(const char* does);
  /// complete, and a commit of the file. Error on all ranks alike. Collective.
  void commit(bool durable, bool final);
  /// Error on all ranks alike if the status of one is not ok. Collective.
  void agree_on_read(const Status& status);

 private:
  Status match_queued_write(std::uint64_t what, const Status& mine, bool all_before);
  bool all_wrote_the_same() const;
  Status different_calls();
  bool store_rest();
  bool compare();
  void recover();
  bool fill(const std::vector<RecordFillTracker::Gap>& gaps);
  void write_ahead(bool sync);
  void finish_data(bool durable, bool final);
  void count_records(bool lost, bool all_well);
  void keep(Status status) { state_.defer(std::move(status)); }

  const NativeContext& context_;
  const Comm& comm_;
  FileHeader& header_;
  RecordState& records_;
  CollectiveState& state_;
  ChunkAddresses& addresses_;
  NativePaths& paths_;
};

}  // namespace shoal
