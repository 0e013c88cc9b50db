// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "driver/library/library_file.hpp"
#include "driver/library/mpiio/mpi_file.hpp"

namespace shoal {

/// The driver mpiio: one shared file by MPI-IO; rank 0 keeps the catalog. Access collective: one derived
/// datatype a field and one call of all ranks; independent: one call for each contiguous run.
class MpiioFile final : public LibraryFile {
 public:
  /// Makes or opens the file of the context. Collective.
  explicit MpiioFile(const LibraryContext& context);

 private:
  LibraryTraits traits() const override;
  bool has_place(const Schema& wanted) override;
  void extend(const Schema& wanted, std::vector<Placement>& placements) override;
  void store(int variable, const Box& box, const std::byte* cells) override;
  void load(int variable, const Box& box, std::byte* cells, bool overlapping) override;
  void store_replicated(int variable, const Box& box, const std::byte* values) override;
  void load_replicated(int variable, const Box& box, std::byte* values, bool all) override;
  void complete_pending() override;
  void commit(bool durable, bool closing) override;
  void close(bool durable) override;
  bool stores_together() const override { return context_.options.library.access == Access::collective; }

  void nothing_through_catalog();
  void report_records();
  void open_files();
  /// have: this rank has the cells of the box.
  void write(int variable, const Box& box, const std::byte* cells, bool have, Access access);
  void read(int variable, const Box& box, std::byte* cells, bool have, Access access);
  std::optional<MpiType> filetype(int variable, const Box& box) const;
  template <class Visit>
  void for_each_run(int variable, const Box& box, Visit&& visit) const;

  const LibraryContext& context_;
  std::unique_ptr<Catalog> catalog_;  ///< on rank 0
  std::unique_ptr<MpiFile> single_;   ///< for calls of single ranks
  std::unique_ptr<MpiFile> shared_;   ///< for calls of all together
  bool overlaps_alone_ = false;  ///< this MPI-IO gives wrong data where ranks read the same cells together
};

}  // namespace shoal
