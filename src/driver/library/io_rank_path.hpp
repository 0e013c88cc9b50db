// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "driver/library/library_file.hpp"
#include "driver/library/library_output.hpp"
#include "driver/rearrangers.hpp"

namespace shoal {

/// Fields that are cut by maps, or into tiles where boxes of I/O ranks are asked for: rearranged to boxes,
/// which I/O ranks hand to the library, with fill values where nobody owns cells. Memory: at most 32 MiB of
/// them at a time, and at most twice as much in messages (less where stage_bytes is set to less).
class IoRankPath {
 public:
  /// All outlive it. buffer: for boxes that are read.
  IoRankPath(LibraryContext& context, LibraryFile& file, LibraryOutput& output, ScratchBuffer& buffer)
      : context_(context), file_(file), output_(output), buffer_(buffer) {}

  /// Has no field gone this way, and is none known to go?
  bool empty() const { return !rearrangers_ || rearrangers_->empty(); }
  /// Do other ranks than those that have cells of the field hand it on? The same on all ranks. Collective
  /// where the decomposition is one of tiles.
  bool takes(const Transfer& transfer) const;
  /// Collective.
  void prepare(const std::shared_ptr<const Decomposition>& decomposition);
  /// Both Collective, for what it takes. overlapping: ranks read the same cells.
  void write(const Transfer& transfer);
  Status read(const Transfer& transfer, bool overlapping);

 private:
  /// The map that stands for the decomposition, which has a Rearranger then. Collective the first time.
  std::shared_ptr<const Decomposition> map_of(const std::shared_ptr<const Decomposition>& decomposition,
                                              bool halo);
  Dims alignment(int variable) const;
  std::int64_t kept_records(const Transfer& transfer);
  void write_map(const Transfer& transfer);
  Status read_map(const Transfer& transfer, bool overlapping);

  LibraryContext& context_;
  LibraryFile& file_;
  LibraryOutput& output_;
  ScratchBuffer& buffer_;
  std::optional<Rearrangers> rearrangers_;  ///< once they are asked for
  ScratchBuffer tile_;                      ///< this rank's cells of a field that is cut into tiles
};

}  // namespace shoal
