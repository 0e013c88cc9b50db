// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include "rearrange/rearranger.hpp"

namespace shoal {

/// Fields of any maps, types and variables whose cells wait, packed, to go to I/O ranks together: one message
/// from a node to an I/O rank for all of them. Ranks that add the same fields agree on what has room without
/// a message.
class RearrangeQueue {
 public:
  /// most_bytes: of packed cells that a rank keeps, of boxes that an I/O rank gets, and of messages each way.
  /// nodes: as Rearranger has it. Error(no_memory) on all ranks alike. Collective.
  RearrangeQueue(const Comm& comm, Numbered<int> io_ranks, std::int64_t most_bytes, NodeMessages* nodes);

  std::int64_t most_bytes() const { return most_bytes_; }
  bool empty() const { return fields_.empty(); }
  /// Is there room for one more? The same on all ranks. Local.
  bool fits(const Rearranger::Plan& plan) const;
  /// Packs this rank's cells, after which its array is free again; fill: of a rank that has none to give.
  /// Local.
  ConversionErrors add(const Rearranger& rearranger, const Rearranger::Plan& plan, const Transfer& transfer,
                       const std::byte* fill);
  /// Cells of this rank's box of a field, row-major; in order of fields. Must not throw.
  using Store = std::function<void(std::size_t field, const Box& box, std::byte* cells)>;
  /// Moves all fields and forgets them. Error(no_memory) on all ranks alike; then they are still there.
  /// Collective.
  void rearrange(const Store& store);
  void clear();
  /// Of memory that was asked for; what no field needed was never touched.
  std::int64_t bytes() const;

 private:
  struct Field {
    const Rearranger* rearranger;
    Rearranger::Plan plan;
    Bytes fill;
    std::int64_t at = 0;      ///< of its packed cells
    std::int64_t box_at = 0;  ///< of this rank's box
  };
  struct Outgoing;
  struct Incoming;
  Outgoing outgoing() const;
  Incoming incoming() const;
  SendBlocks send_blocks_of(const Outgoing& out) const;
  void reserve_buffers();
  void move(const Outgoing& out, const Incoming& in, std::byte* boxes);

  const Comm& comm_;
  Numbered<int> io_ranks_;
  int my_io_ = -1;
  std::int64_t most_bytes_;
  NodeMessages* nodes_;
  std::vector<Field> fields_;
  std::int64_t packed_bytes_ = 0;                ///< of this rank's cells
  std::int64_t rank_bytes_ = 0, box_bytes_ = 0;  ///< as the ranks agree that have most
  ScratchBuffer cells_, boxes_;
  MessageBuffers buffers_;
};

}  // namespace shoal
