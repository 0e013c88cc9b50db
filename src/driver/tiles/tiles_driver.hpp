// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/numbered.hpp"
#include "driver/plans/rearrangers.hpp"
#include "format/tiles/file_set.hpp"
#include "pack/scratch_buffer.hpp"

namespace shoal {

/// A driver that reads a set of files, each with some of the cells (FileSet), as one dataset. Rank 0 reads
/// the headers of all files; each rank then opens the files that hold its cells, and reads these. Of a field
/// that is cut by a map, I/O ranks read even boxes in the same way, and send cells to the ranks that own
/// them. Memory: one piece of a field, at most 16 MiB, and the headers of at most 64 files; with maps that of
/// a Rearranger.
class TilesDriver final : public Driver {
 public:
  /// Collective over comm. paths: of all files, on rank 0; not looked at on others.
  TilesDriver(const Comm& comm, const std::vector<std::string>& paths, const DriverOptions& options);

  const Schema& schema() const override { return set_.schema; }
  const Placement& placement(int variable) const override { return placements_.at(variable); }
  const Counters& counters() const override { return counters_; }

  void define(const Schema& wanted, const Cuts& cuts) override;
  void prepare(const std::shared_ptr<const Decomposition>& decomposition) override;
  void write(const Transfer& transfer) override;
  void read(const Transfer& transfer) override;
  void put(int variable, const Box& box, const std::byte* values,
           const std::vector<std::string>& strings) override;
  void get(int variable, const Box& box, std::byte* values, std::vector<std::string>& strings) override;
  void refuse(const RefusedCall& call) override;
  bool fetches() const override { return true; }
  bool copies() const override { return true; }
  void fetch(int variable, const Box& box, std::byte* values) override;
  void sync(bool durable) override;
  void close(bool durable) override;

 private:
  struct OpenFile {
    int file = 0;
    std::unique_ptr<Catalog> catalog;
    Catalog::Traffic seen;  // what of its traffic is counted already
  };

  [[noreturn]] void refuse_change() const;
  Catalog& open(int file);
  void count(OpenFile& open);
  /// The value of cells that no file holds. Error(not_supported): the variable cannot be read.
  Bytes gap_of(int variable) const;
  /// Cells that no file holds read as the gap.
  void read_cells(const Transfer& transfer, const Bytes& gap);
  void fetch(int variable, const Box& box, std::byte* values, const Bytes& gap);
  /// Does any rank have an array that gaps of the variable do not fit? Collective.
  bool gaps_unconverted(const Transfer& transfer, const Bytes& gap);
  Status read_map(const Transfer& transfer);
  std::vector<std::string> get_strings(int variable, const Box& box);

  const Comm& comm_;
  DriverOptions options_;
  FileSet set_;
  Numbered<Placement> placements_;
  std::list<OpenFile> open_;  // the one used last is in front
  Bytes cells_;               ///< on their way; kept, since fresh memory costs as much as the copy
  std::optional<Rearrangers> rearrangers_;  ///< once a map is used
  ScratchBuffer box_cells_;                 ///< of this rank's box, as an I/O rank
  Counters counters_;
};

/// The files that `path` names (files_of_set, on rank 0). Error(state): mode is not read. Collective over
/// comm.
std::unique_ptr<Driver> make_tiles_driver(const Comm& comm, const std::string& path, OpenMode mode,
                                          const DriverOptions& options);

}  // namespace shoal
