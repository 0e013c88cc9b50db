// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/claimed/claim.hpp"
#include "driver/registry.hpp"

namespace shoal {

/// A driver whose file is claimed (Claim): rank 0 locks it, and an old file of the name stays as it is until
/// the new one has its first commit: a sync or close that brought the file to a whole state (Driver::whole).
/// Then rank 0 renames the new file, before the call returns on any rank. The inner driver has the temporary
/// path all the time; files that it opens by it later are found under the new name. Messages name the path
/// that the user gave.
///
/// Where definitions have no room in a classic file, pending calls are completed and committed, all ranks
/// copy the data to a new file (move_data), a new inner driver opens that, and rank 0 renames it. If the job
/// is killed at any moment, the old file or the new one has the name, and each is whole.
class ClaimedDriver final : public Driver {
 public:
  /// Collective over comm, as all of them.
  ClaimedDriver(DriverMaker* make, bool calls_mpi_io, const Comm& comm, const std::string& path,
                OpenMode mode, Format format, const DriverOptions& options);
  ~ClaimedDriver() override;
  ClaimedDriver(const ClaimedDriver&) = delete;
  ClaimedDriver& operator=(const ClaimedDriver&) = delete;

  const Schema& schema() const override { return inner_->schema(); }
  const Placement& placement(int variable) const override { return inner_->placement(variable); }
  const Counters& counters() const override;
  std::vector<Counters> counters_of_servers() override { return inner_->counters_of_servers(); }
  void make_place(const Schema& wanted) override;
  void drop_place() override;
  void define(const Schema& wanted, const Cuts& cuts) override;
  void prepare(const std::shared_ptr<const Decomposition>& decomposition) override;
  void write(const Transfer& transfer) override;
  void read(const Transfer& transfer) override;
  void put(int variable, const Box& box, const std::byte* values,
           const std::vector<std::string>& strings) override;
  void get(int variable, const Box& box, std::byte* values, std::vector<std::string>& strings) override;
  void refuse(const RefusedCall& call) override;
  bool fetches() const override { return inner_->fetches(); }
  bool stores() const override { return inner_->stores(); }
  bool copies() const override { return inner_->copies(); }
  void fetch(int variable, const Box& box, std::byte* values) override;
  void store(int variable, const Box& box, const std::byte* cells) override;
  CallMatch match_calls(const Comm& comm, const CallSignature& signature) override {
    return inner_->match_calls(comm, signature);
  }
  bool diverged() const override { return inner_->diverged(); }
  Status failure() const override { return as_user_knows_it(inner_->failure()); }
  void sync(bool durable) override;
  void submit_pending() override { inner_->submit_pending(); }
  bool whole() const override { return inner_->whole(); }
  void close(bool durable) override;

 private:
  /// The paths of the file on this rank; threads that store read it, too.
  struct Place;
  std::unique_ptr<Driver> made(const std::shared_ptr<Place>& place, OpenMode mode,
                               DriverOptions options) const;
  struct Moved;
  Bytes claim(OpenMode mode, bool calls_mpi_io);
  void move(const Schema& wanted);
  void take_place();
  template <class Work>
  void or_drop_place(Work&& work);
  bool waits_for_commit() const;
  Status as_user_knows_it(Status status) const;
  template <class Work>
  void in_words_of_user(Work&& work) const;
  Status finish(bool durable, bool final);

  DriverMaker* make_;
  const Comm& comm_;
  Format format_;
  DriverOptions options_;
  std::shared_ptr<Place> place_;
  std::unique_ptr<Claim> claim_;  ///< of rank 0
  std::unique_ptr<Driver> inner_;
  std::unique_ptr<Moved> moved_;
  std::vector<std::shared_ptr<const Decomposition>> prepared_;
  Counters earlier_;  ///< of drivers that had the file before its data moved
  bool has_moved_ = false;
  std::size_t warnings_reported_ = 0;  ///< of the claim, that the driver inside has
  mutable Counters counters_;
};

}  // namespace shoal
