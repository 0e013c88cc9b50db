// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/driver.hpp"
#include "driver/native/field_router.hpp"
#include "driver/native/pending_writes.hpp"

namespace shoal {

/// The driver native: rank 0 keeps the catalog, the ranks of a node assemble fields in shared memory and
/// store them at the addresses of the catalog (docs/design.md).
///
/// Opens the file, asks FieldRouter for the path of a field, has that path move it, and commits
/// (PendingWrites). Paths do not see each other's state.
class NativeDriver final : public Driver {
 public:
  /// Collective.
  NativeDriver(const Comm& comm, const std::string& path, OpenMode mode, Format format,
               const DriverOptions& options);

  NativeDriver(const NativeDriver&) = delete;
  NativeDriver& operator=(const NativeDriver&) = delete;
  ~NativeDriver() override { paths_.staged.drop(); }

  const Schema& schema() const override { return header_.schema(); }
  const Placement& placement(int variable) const override { return header_.placement(variable); }
  const Counters& counters() const override { return counters_; }

  bool has_place(const Schema& wanted) override { return header_.has_place(wanted); }
  void define(const Schema& wanted, const Cuts& cuts) override;
  void prepare(const std::shared_ptr<const Decomposition>& decomposition) override;
  void drop_stage() override { paths_.staged.drop(); }
  void write(const Transfer& transfer) override;
  void read(const Transfer& transfer) override;
  void put(int variable, const Box& box, const std::byte* values,
           const std::vector<std::string>& strings) override;
  void get(int variable, const Box& box, std::byte* values, std::vector<std::string>& strings) override;
  void refuse(const RefusedCall& call) override;
  bool fetches() const override { return true; }
  bool stores() const override { return writable_; }
  void fetch(int variable, const Box& box, std::byte* values) override;
  void store(int variable, const Box& box, const std::byte* cells) override;
  CallMatch match_calls(const Comm& comm, const CallSignature& signature) override;
  Status failure() const override { return pending_.failure(); }
  void sync(bool durable) override;
  void submit_pending() override;
  bool whole() const override { return state_.file() == FileState::whole; }
  void close(bool durable) override;

 private:
  void open(OpenMode mode, Format format);
  void make_new_ready(const Schema& wanted, int from);
  void keep(Status status) { state_.defer(std::move(status)); }
  void begin_write();
  void refuse_write(const Status& why);
  void refuse_read(const Status& why);
  /// The status, which names the variable if it failed.
  Status of_variable(const Status& status, int variable) const;
  /// Skips a write in which the others do not wait for this rank: they learn it in the next match of calls.
  void skip_write(const Status& why);
  /// Writes a field after the match of calls, where there is one.
  void write_field(FieldJob& job, Route& route);
  bool can_write(const FieldJob& job);
  Status place(FieldJob& job, const Route& route);
  void store(const FieldJob& job, const Route& route);
  void keep_order(const FieldJob& job, bool together);
  void write_out_puts(int variable);
  void begin_read();
  void match_read(const Transfer& transfer);
  void begin_put(std::optional<int> variable);

  const Comm& comm_;
  DriverOptions options_;
  Counters counters_;
  bool writable_;
  ObjectFiles file_;
  RankGroups groups_;
  FileHeader header_;
  RecordState records_;
  CollectiveState state_;
  FieldStrategies strategies_;
  const NativeContext context_;
  ChunkAddresses addresses_;
  NativePaths paths_;
  FieldRouter router_;
  PendingWrites pending_;
};

}  // namespace shoal
