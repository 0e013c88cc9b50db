// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef SHOAL_HAVE_PNETCDF

#include <list>
#include <map>
#include <string>
#include <vector>

#include "driver/library/library_file.hpp"
#include "pack/scratch_buffer.hpp"

namespace shoal {

/// The driver pnetcdf: classic formats through PnetCDF, with access collective, independent, or nonblocking
/// (queued and moved together).
///
/// Replicated values in collective access are queued on rank 0, and moved by one collective call with all
/// that is queued then.
class PnetcdfFile final : public LibraryFile {
 public:
  /// Makes or opens the file of the context. Collective.
  explicit PnetcdfFile(const LibraryContext& context);

 private:
  LibraryTraits traits() const override;
  bool has_place(const Schema& wanted) override;
  void extend(const Schema& wanted, std::vector<Placement>& placements) override;
  void about_to_store(const StoreRegion& next) override;
  void store(int variable, const Box& box, const std::byte* cells) override;
  void load(int variable, const Box& box, std::byte* cells, bool overlapping) override;
  void store_replicated(int variable, const Box& box, const std::byte* values) override;
  void load_replicated(int variable, const Box& box, std::byte* values, bool all) override;
  void complete_pending() override;
  void commit(bool durable, bool closing) override;
  void close(bool durable) override;
  bool stores_together() const override;
  std::byte* buffer_for_cells(std::size_t bytes) override;

  void check(int status, const std::string& what) const;
  void open_file();
  void define(const Schema& wanted);
  void end_define(bool first);
  void note_placements(const Schema& schema, std::vector<Placement>& placements) const;
  void check_usable() const;
  /// Both Collective, whatever the library is in.
  void enter_collective();
  void enter_independent();
  void queue(int variable, const Box& box, const std::byte* values);
  std::byte* new_buffer(std::size_t bytes);
  void flush();
  /// Makes writes visible to other ranks.
  void make_visible();
  void pad_end() const;

  const LibraryContext& context_;
  int file_ = -1;
  bool defining_ = false;       ///< the library is in define mode
  bool opened_by_all_ = false;  ///< ranks have the file for themselves, too
  bool independent_ = false;    ///< the library is in independent data mode
  Status unusable_;             ///< definitions failed half way; the same on all ranks

  std::list<ScratchBuffer> queued_values_;          ///< on this rank; the library reads them at the flush
  std::list<ScratchBuffer> spare_;                  ///< used again
  std::map<int, std::vector<Box>> queued_regions_;  ///< by variable; the same on all ranks
  std::int64_t queued_bytes_ = 0;                   ///< of those regions
  std::int64_t queued_calls_ = 0;
  bool overlaps_alone_ = false;  ///< the same cells may not be read by several ranks in one collective call
  bool queueing_ = false;        ///< the next values to store are queued
};

}  // namespace shoal

#endif
