// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "rearrange/box_shares.hpp"
#include "rearrange/messages.hpp"
#include "rearrange/node_messages.hpp"

namespace shoal {

/// Turns fields cut by a map into fields cut into even boxes, one for each I/O rank, and back: cells go in
/// messages between ranks. A rank sends its cells in order of global index, so that it needs no list of what
/// goes where beside the map; an I/O rank keeps a list of where the cells of each rank lie in its box, once
/// for all variables, levels, types and records.
class Rearranger {
 public:
  /// io_ranks: ascending, at least one, the same on all ranks. rearrange_bytes: a rank has at most so many of
  /// messages, and half as many of cells to store at a time. nodes: messages are counted there, and go in two
  /// levels if by_nodes and where they can; it is of the same I/O ranks then; outlives this. Local.
  Rearranger(const Comm& comm, std::shared_ptr<const Decomposition> decomposition, Numbered<int> io_ranks,
             std::int64_t rearrange_bytes, NodeMessages* nodes = nullptr, bool by_nodes = true);

  /// Memory for the cells of a piece; nullptr where there is none: then they are dropped, and unwritten or
  /// unread. May be called on any rank that has a piece.
  using GetBuffer = std::function<std::byte*(std::size_t bytes)>;
  /// A piece of this rank's box, without gaps in it, and its cells, row-major. Called on all ranks as often
  /// (with an empty box where there is none). Must not throw.
  using UsePiece = std::function<void(const Box& piece, std::byte* cells)>;

  /// What is done with pieces.
  struct Handling {
    GetBuffer buffer;
    UsePiece load;
    UsePiece store;
  };
  /// Of the transfer the region, the array and the status are looked at; the array has the extents [region's
  /// dimensions in front of the decomposition's, local cells, region's dimensions that are not cut]. store
  /// gets cells as `stored`. Where nobody has one, or a rank's status is not ok, it gets what load (if there
  /// is one) gave before, else fill. rules: of boxes of the file. Conversion errors count from the start of
  /// the array. Error on all ranks alike: no memory. Collective.
  ConversionErrors write(const Transfer& transfer, const Element& stored, const std::byte* fill,
                         const PartRules& rules, const Handling& handling);
  /// Cells are in the array when it returns, if load gave them. Collective.
  ConversionErrors read(const Transfer& transfer, const Element& stored, const PartRules& rules,
                        const Handling& handling);

  const std::vector<int>& io_ranks() const { return io_ranks_; }

  struct Lists;
  /// What a write takes of a field that moves in one round, beside its cells. As good as the Rearranger.
  struct Plan {
    Element stored;
    EvenPartition cut;
    const Lists* lists = nullptr;
    Box mine;                                    ///< this rank's box, as an I/O rank
    bool complete = false;                       ///< ranks have all of its cells
    std::int64_t box_bytes = 0, rank_bytes = 0;  ///< of the box, and of the rank, that has most; with lists
  };
  /// None where no such field was written (read) before, or where a box has more than most_bytes. The same on
  /// all ranks. Local.
  std::optional<Plan> plan_of(const Box& region, const Element& stored, const PartRules& rules,
                              std::int64_t most_bytes) const;
  /// This rank's cells, box after box; fill if its status is not ok. Conversion errors as above. Local.
  ConversionErrors pack(const Plan& plan, const Transfer& transfer, const std::byte* fill,
                        std::byte* to) const;
  /// Puts what pack made for this rank's box, on the rank that has `where` of it, to its places.
  void place(const Plan& plan, const IndexSet& where, const std::byte* from, std::int64_t bytes,
             std::byte* box) const;
  /// Calls visit(I/O rank's number, bytes) for what pack makes.
  template <class Visit>
  void for_each_part(const Plan& plan, Visit&& visit) const;
  /// Calls visit(I/O rank's number) for those that ranks of this node have cells for.
  template <class Visit>
  void for_each_of_node(const Plan& plan, Visit&& visit) const;
  /// Calls visit(rank, where, bytes) for those that have cells of this rank's box.
  template <class Visit>
  void for_each_source(const Plan& plan, Visit&& visit) const;

  /// Of lists and messages, as of now.
  std::int64_t bytes() const;

 private:
  using Share = BoxShare;
  /// One call of write or read.
  struct Call {
    Box region;
    Element stored;
    EvenPartition cut;
    const Lists* lists = nullptr;
    std::int64_t max_cells = 0, rounds = 0;
    bool by_nodes = false;  ///< messages go in two levels
  };
  /// The messages of one round.
  struct Round {
    Share mine;                          ///< of this rank as an I/O rank
    std::vector<Message> of_boxes;       ///< between this rank's array and the I/O ranks
    std::vector<Share> shares;           ///< of these
    std::vector<std::size_t> boxes;      ///< and their numbers
    std::vector<Message> of_sources;     ///< between this rank's piece and those who have its cells
    std::vector<const IndexSet*> where;  ///< of these
  };

  Call start(const Transfer& transfer, const Element& stored, const PartRules& rules);
  const Lists* find_lists(const EvenPartition& cut) const;
  /// Values that a box has of each mapped cell; 0: it is empty.
  std::int64_t inner_values_of(const EvenPartition& cut, int io) const;
  bool has_levels() const { return by_nodes_ && nodes_ != nullptr && nodes_->usable(); }
  bool goes_by_nodes(Call& call);
  Round round_of(const Call& call, std::int64_t number) const;
  Share share_of(const Call& call, int io, std::int64_t round) const;
  template <class Visit>
  void for_each_own(const Call& call, Visit&& visit) const;
  SendBlocks send_blocks_of(const Call& call, const Round& round, std::int64_t number) const;
  void exchange(const Call& call, const Round& round, std::int64_t number, bool to_boxes,
                const NodeMessages::Pack& pack, const NodeMessages::Unpack& unpack);
  const Lists& lists_for(const EvenPartition& cut);
  Lists make_lists(const EvenPartition& cut, int dim) const;
  void swap_lists(Lists& lists, const std::vector<OwnCells>& own) const;
  void reserve(std::int64_t bytes);

  const Comm& comm_;
  std::shared_ptr<const Decomposition> decomposition_;
  MapShape shape_;
  Numbered<int> io_ranks_;
  int my_io_ = -1;  // this rank's number among them
  std::int64_t rearrange_bytes_;
  NodeMessages* nodes_;
  bool by_nodes_;
  std::vector<std::unique_ptr<Lists>> lists_;
  MessageBuffers buffers_;
};

/// Who has which cells of the boxes: for one way to cut the mapped dimensions.
struct Rearranger::Lists {
  int dim = -1;  ///< of the mapped ones that is cut; -1: none is, all boxes have all mapped cells
  std::int64_t step = 1;
  int used = 1;               ///< boxes that may have cells
  std::vector<BoxCells> own;  ///< this rank's cells of boxes, where it has any; of box 0 if dim is -1
  struct Source {
    int rank = 0;
    IndexSet where;
  };
  std::vector<Source> sources;    ///< of this rank's box, if it is an I/O rank
  bool complete = false;          ///< the sources have all cells of this rank's box
  SendBlocks of_node;             ///< cells of the ranks of this node; as `own` if dim is -1
  std::int64_t most_of_node = 0;  ///< of any node's cells of one box, repeated ones each time
  std::int64_t most_of_rank = 0;  ///< of any rank's cells
  std::int64_t most_parts = 0;    ///< boxes that any rank sends to, or sources that any has

  /// The numbers of boxes that an element of `own` (of_node) stands for.
  int end(int box, const EvenPartition& cut) const { return dim < 0 ? cut.parts() : box + 1; }
};

template <class Visit>
void Rearranger::for_each_part(const Plan& plan, Visit&& visit) const {
  const auto size = static_cast<std::int64_t>(plan.stored.size);
  for (const auto& own : plan.lists->own)
    for (int io = own.box; io < plan.lists->end(own.box, plan.cut); ++io)
      if (const std::int64_t inner_values = inner_values_of(plan.cut, io); inner_values > 0)
        visit(io, own.cells * inner_values * size);
}

template <class Visit>
void Rearranger::for_each_of_node(const Plan& plan, Visit&& visit) const {
  for (const auto& send_block : plan.lists->of_node)
    for (int io = send_block.io; io < plan.lists->end(send_block.io, plan.cut); ++io)
      if (inner_values_of(plan.cut, io) > 0) visit(io);
}

template <class Visit>
void Rearranger::for_each_source(const Plan& plan, Visit&& visit) const {
  if (plan.mine.empty()) return;
  const std::int64_t item = inner_values_of(plan.cut, my_io_) * static_cast<std::int64_t>(plan.stored.size);
  for (const auto& source : plan.lists->sources)
    if (source.where.cells() > 0) visit(source.rank, source.where, source.where.cells() * item);
}

}  // namespace shoal
