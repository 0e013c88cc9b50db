// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "driver/native/path/paths.hpp"

namespace shoal {

/// What ranks in calls of writing say to each other, if they come with another call.
inline constexpr const char* k_writes = "writes";

/// What lies between writing and a whole file: ranks match calls and compare what they wrote, what waits is
/// stored, records are counted, and where a rank diverged they are taken back.
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
  /// What ranks know who are to write together; fields that waited have gone. Collective.
  /// all_before: they compare what they wrote before, too, as they do where fields wait.
  Status match_write(const Transfer& transfer, bool all_before);
  /// Where threads of several nodes store, ranks ask each other for what failed, once they have written as
  /// much as all stages hold. Error on all ranks, in the same call.
  void ask_others();
  /// Ranks match calls, and find out whether they wrote the same; then everything that was written is in the
  /// file. Collective.
  void complete(const char* does);
  /// The same; then it counts. Error on all ranks. Collective.
  void commit(bool durable, bool final);
  /// Error on all ranks, if the status of one is. Collective.
  void agree_on_read(const Status& status);

 private:
  Status match_queued_write(std::uint64_t what, const Status& mine, bool all_before);
  bool all_wrote_the_same() const;
  Status different_calls();
  bool store_rest();
  bool compare();
  void recover();
  void fill_gaps();
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
