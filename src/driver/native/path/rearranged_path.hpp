// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "driver/native/path/native_rearrangers.hpp"
#include "driver/native/path/staged_path.hpp"

namespace shoal {

/// The path through I/O ranks: cells are sent to them, and each stores (fetches) a box of the field.
class RearrangedPath {
 public:
  RearrangedPath(const NativeContext& context, NativeRearrangers& rearrangers, StagedPath& staged,
                 SendBuffers& buffers)
      : context_(context), rearrangers_(rearrangers), staged_(staged), buffers_(buffers) {}

  /// Collective.
  Status write(const FieldJob& job);
  Status read(const FieldJob& job);
  /// Reads a field that is cut by a map with the catalog's library: each I/O rank its box. Collective.
  Status read_by_library(const FieldJob& job);

  /// Stores this rank's box of a field (row-major, as stored). Local.
  void store_box(const FieldJob& job, const Box& box, std::byte* cells);

 private:
  Status write_boxes(const FieldJob& as_cut);
  Status write_tiles(const FieldJob& job);
  Status read_boxes(const FieldJob& as_cut);
  Status read_tiles(const FieldJob& job);
  /// as_cut: what the job is of, for messages.
  Status read_boxes(const FieldJob& job, const Transfer& as_cut, const Element& stored,
                    const Rearranger::Handling& handling);
  /// How boxes of the job are stored and loaded; both outlive it.
  Rearranger::Handling handling_of(const FieldJob& job, Status& status);
  void load_box(const FieldJob& job, const Box& box, std::byte* cells, const Bytes& fill);
  template <class Move>
  void move_box(const FieldJob& job, const Box& box, std::byte* cells, Move&& move);

  const NativeContext& context_;
  NativeRearrangers& rearrangers_;
  StagedPath& staged_;
  SendBuffers& buffers_;
  ScratchBuffer chunk_cells_;  ///< the part of a box that one chunk has
};

}  // namespace shoal
