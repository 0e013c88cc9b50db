// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/library/io_rank_path.hpp"
#include "driver/library/library_file.hpp"
#include "driver/library/library_output.hpp"
#include "driver/plans/decomposition_plans.hpp"

namespace shoal {

/// A driver that hands boxes of cells to another library. Ranks match calls before each call of the library,
/// so that a rank with bad arguments, or in another call, never leaves the others waiting in it. Memory: this
/// rank's cells of one field, packed, unless the library can take the model's array; for fields that go
/// through I/O ranks see IoRankPath.
class LibraryDriver final : public Driver {
 public:
  /// format: of new files. Collective.
  LibraryDriver(const Comm& comm, const std::string& path, OpenMode mode, Format format,
                const DriverOptions& options, LibraryOpener* open);

  const Schema& schema() const override { return context_.schema; }
  const Placement& placement(int variable) const override { return context_.placement(variable); }
  const Counters& counters() const override { return counters_; }

  bool has_place(const Schema& wanted) override;
  void define(const Schema& wanted, const Cuts& cuts) override;
  void prepare(const std::shared_ptr<const Decomposition>& decomposition) override;
  void write(const Transfer& transfer) override;
  void read(const Transfer& transfer) override;
  void put(int variable, const Box& box, const std::byte* values,
           const std::vector<std::string>& strings) override;
  void get(int variable, const Box& box, std::byte* values, std::vector<std::string>& strings) override;
  void refuse(const RefusedCall& call) override;
  void sync(bool durable) override;
  bool whole() const override { return output_.state().file() == FileState::whole; }
  void close(bool durable) override;

 private:
  /// A warning where several nodes had better not write one file. Collective.
  void warn_of_sharing();
  /// A write that this rank does not take part in, or all ranks gave up.
  void lose_write(const Status& why);
  const std::byte* packed_cells(const Transfer& transfer, const Box& box);
  Status read_box(const Transfer& transfer, bool overlapping);
  /// The box in the pieces that the library takes, and on all ranks as many: visit gets each and where its
  /// cells are in the packed box.
  template <class Visit>
  void in_pieces(int variable, const Box& region, const Box& box, bool together, Visit&& visit) const;
  /// Do ranks match calls in each write? If not, each stores when it arrives, and a rank that took no part is
  /// found at the next sync. The same on all ranks.
  bool meets_in_writes() const {
    return file_->stores_together() || !io_ranks_.empty() || cells_change_owners_;
  }
  void put_strings(int variable, const Box& box, const std::vector<std::string>& values);
  std::vector<std::string> get_strings(int variable, const Box& box);
  void finish(bool durable, bool closing);

  Counters counters_;
  LibraryContext context_;
  const std::unique_ptr<LibraryFile> file_;
  ScratchBuffer packed_;
  LibraryOutput output_;
  IoRankPath io_ranks_;
  DecompositionPlans<std::vector<Box>> unowned_;  ///< unowned cells, of blocks
  /// Two decompositions may cut one variable: what one rank has written another may write again, and later.
  bool cells_change_owners_ = false;
};

}  // namespace shoal
