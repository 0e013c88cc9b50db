// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/numbered.hpp"
#include "comm/comm.hpp"
#include "driver/driver.hpp"
#include "driver/plans/decomposition_plans.hpp"
#include "driver/protocol/protocol.hpp"
#include "pack/cells.hpp"

namespace shoal {

/// A driver that writes a dataset as a set of files: each I/O domain (a group of ranks) has a file with its
/// box of every field, which another driver writes on the ranks of the domain. Files and attributes follow
/// FMS: PATH.0000, PATH.0001, ..., the attribute domain_decomposition on the coordinate variables of the
/// dimensions that are cut, and NumFilesInSet. Where the model has no coordinate variable for such a
/// dimension, one is added (numbers of cells from 1, attribute shoal_axis). Write only: sets are read by
/// another driver.
class DomainsDriver final : public Driver {
 public:
  /// driver: the name of the driver that writes the files. Files are created when the first definitions are
  /// finished, since only decompositions say how to group ranks. Where variables get theirs with their
  /// fields, files are created when all dimensions of such variables were in a field, at the next sync at the
  /// latest, and fields are held until then. Collective.
  DomainsDriver(const Comm& comm, std::string driver, std::string path, bool exclusive, Format format,
                const DriverOptions& options);

  const Schema& schema() const override { return schema_; }
  const Placement& placement(int variable) const override { return placements_.at(variable); }
  const Counters& counters() const override { return inner_ ? inner_->counters() : none_; }

  void define(const Schema& wanted, const Cuts& cuts) override;
  void prepare(const std::shared_ptr<const Decomposition>& decomposition) override;
  void write(const Transfer& transfer) override;
  void read(const Transfer& transfer) override;
  void put(int variable, const Box& box, const std::byte* values,
           const std::vector<std::string>& strings) override;
  void get(int variable, const Box& box, std::byte* values, std::vector<std::string>& strings) override;
  void refuse(const RefusedCall& call) override;
  CallMatch match_calls(const Comm& comm, const CallSignature& signature) override;
  void sync(bool durable) override;
  void submit_pending() override {
    if (inner_) inner_->submit_pending();
  }
  void close(bool durable) override;

 private:
  /// The part of a dimension that this domain's file has; all of it where it is not cut.
  struct Part {
    std::int64_t first = 0, count = 0;
    bool cut = false;
    int inner = -1;  ///< its number in the file; -1: not there, because this domain has no cells of it
  };
  /// This domain's part of a decomposition.
  struct Cut {
    std::shared_ptr<const Decomposition> part;  ///< nullptr: no cells in this domain
    Box box;
    bool partly = false;  ///< some domain has no cells of it
  };
  struct HeldField {
    Transfer transfer;
    std::unique_ptr<Bytes> cells;  ///< a copy, to which the transfer points; nullptr: it has none
  };
  /// Definitions whose files are not made: how dimensions are cut comes with the first fields of variables
  /// that have no decomposition yet.
  struct Waiting {
    Cuts cuts;  ///< with those that came with fields
    std::vector<std::shared_ptr<const Decomposition>> to_prepare;
    std::vector<HeldField> fields;  ///< in the order of calls
    std::int64_t bytes = 0;         ///< of theirs, on this rank
  };
  struct Put {
    int variable = 0;
    Box box;
    Bytes values;
    std::vector<std::string> strings;
    Status refused;  ///< not ok: this rank does not know what is put
  };

  void define_files(const Schema& wanted, const Cuts& cuts);
  bool must_wait(const Schema& wanted, const Cuts& cuts) const;
  /// Holds a field, and ends the wait where it was the last that was missed. nullptr: this rank does not know
  /// which one it is, as its arguments are `refused`; then no rank's cells are written.
  void hold(const Transfer* field, const Status& refused = {});
  /// Before values of a variable that do not come with a decomposition; -1: this rank does not know it.
  void before_put(int variable);
  bool knows_all_cuts() const;
  void end_waiting();
  void take_schema(const Schema& wanted);
  void make_files(const Cuts& cuts);
  std::vector<std::string> files_in_the_way() const;
  void find_old_files();
  void remove_old_files();
  bool is_of_a_set(const std::string& file) const;
  const Cut& cut_of(const std::shared_ptr<const Decomposition>& decomposition);
  void cut_dimensions(const Schema& wanted, const Cuts& cuts, Numbered<Part>& parts);
  Schema schema_of_file(const Schema& wanted, Numbered<Part>& parts, Numbered<int>& variables,
                        std::vector<std::pair<int, int>>& made) const;
  std::vector<SchemaChange> changes_of_file(const Schema& wanted) const;
  void put_made_axes(const std::vector<std::pair<int, int>>& made);
  Box box_in_file(int variable, const Box& box) const;
  /// Of dimension i of those that a variable has.
  const Part& part_of(const std::vector<int>& dims, int i) const {
    return parts_[dims[static_cast<std::size_t>(i)]];
  }
  void spread_puts();
  void ask_others();
  void finish(bool durable, bool final);
  /// Does work of this domain that may fail; all domains get the failure.
  template <class Work>
  void together(Work&& work);
  Status reported_by_domain(Status status) const;
  bool made() const { return inner_ != nullptr; }
  /// The driver of this domain's file. Error, on all ranks alike: the files could not be made.
  Driver& writer();

  const Comm& comm_;
  std::string driver_;
  std::string path_;
  bool exclusive_;
  DriverOptions options_;
  Schema schema_;
  CollectiveState state_;  ///< among all ranks; what ranks of a domain have in common is the inner driver's
  Numbered<Placement> placements_;
  Counters none_;

  int domain_ = 0, domains_ = 1;
  std::optional<Comm> ranks_;           ///< of this domain
  Numbered<std::int64_t> members_;      ///< their numbers in comm_
  std::vector<std::string> old_files_;  ///< of rank 0: they go when the files of the set are committed
  bool has_old_files_ = false;
  std::unique_ptr<Driver> inner_;
  std::optional<Waiting> waiting_;
  Status gave_up_;           ///< why files could not be made; the same on all ranks
  Numbered<Part> parts_;     ///< [dims of schema_]
  Numbered<int> variables_;  ///< [variables of schema_] their numbers in the file; -1: not there
  DecompositionPlans<Cut> cuts_;
  std::vector<Put> puts_;  ///< not yet known to other ranks than 0
  Status diverged_;        ///< ranks of this domain made different calls, and all ranks know it
};

/// PATH.0000 for number 0; more digits where there are more files.
std::string file_of_set(const std::string& path, int number);

}  // namespace shoal
