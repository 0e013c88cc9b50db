// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "driver/library/library_file.hpp"
#include "driver/library/library_output.hpp"
#include "driver/rearrangers.hpp"

namespace shoal {

/// The path of fields that are cut by maps, or into tiles where I/O ranks are set: cells are rearranged to
/// boxes, which I/O ranks hand to the library, with the fill value in unowned cells. Memory: at most 32 MiB
/// of boxes at a time, and at most twice as much in messages (less where stage_bytes is set to less).
class IoRankPath {
 public:
  /// All outlive it. buffer: for boxes that are read.
  IoRankPath(LibraryContext& context, LibraryFile& file, LibraryOutput& output, ScratchBuffer& buffer)
      : context_(context), file_(file), output_(output), buffer_(buffer) {}

  /// Has no field taken this path so far?
  bool empty() const { return !rearrangers_ || rearrangers_->empty(); }
  /// Does the field take this path? The same on all ranks. Collective where the decomposition is a block.
  bool takes(const Transfer& transfer) const;
  /// Collective.
  void prepare(const std::shared_ptr<const Decomposition>& decomposition);
  /// For fields that take this path. overlapping: ranks read the same cells. Both are Collective.
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
