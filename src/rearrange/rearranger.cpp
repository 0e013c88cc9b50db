// SPDX-License-Identifier: BSD-3-Clause
#include "rearrange/rearranger.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "comm/tags.hpp"

namespace shoal {

namespace {

constexpr std::int64_t k_most_bytes = std::int64_t{1} << 30;  // of a message: MPI counts in int
constexpr std::int64_t k_least_bytes = 64;                    // of memory for messages: some cells

Box nothing(int rank) {
  return {Dims(rank), Dims(rank)};
}

/// Calls visit(in_piece, in_message, bytes) for the cells of a message: where they are in a row-major piece
/// and in the message. k_item: bytes of all values of a cell, or 0: as many as `item`.
template <std::int64_t k_item, class Visit>
void for_each_place(const MappedPart& part, const IndexSet& where, std::int64_t cells, std::int64_t item,
                    Visit& visit) {
  const std::int64_t size = k_item > 0 ? k_item : item;
  const std::int64_t outer_dims = part.outer.cells();
  const std::int64_t lead_bytes = (part.end - part.low) * size;
  for (std::int64_t lead = 0; lead < outer_dims; ++lead) {
    const std::int64_t in_piece = lead * lead_bytes - part.low * size;
    const std::int64_t in_message = lead * cells * size;
    where.for_each_run(part.low, part.end,
                       [&](std::int64_t position, std::int64_t which, std::int64_t length) {
                         if (k_item > 0 && length == 1)
                           visit(in_piece + position * size, in_message + which * size, k_item);
                         else
                           visit(in_piece + position * size, in_message + which * size, length * size);
                       });
  }
}

/// The same, with copies of one element as single instructions.
template <class Visit>
void for_each_place(const MappedPart& part, const IndexSet& where, std::int64_t bytes, std::size_t size,
                    Visit&& visit) {
  const std::int64_t item = part.inner.cells() * static_cast<std::int64_t>(size);
  const std::int64_t cells = bytes / (part.outer.cells() * item);
  switch (item) {
    case 1:
      return for_each_place<1>(part, where, cells, item, visit);
    case 2:
      return for_each_place<2>(part, where, cells, item, visit);
    case 4:
      return for_each_place<4>(part, where, cells, item, visit);
    case 8:
      return for_each_place<8>(part, where, cells, item, visit);
    default:
      return for_each_place<0>(part, where, cells, item, visit);
  }
}

void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

/// Has this rank cells to give or take?
bool takes_part(const Transfer& transfer) {
  return !transfer.refused && transfer.array.has_cells();
}

}  // namespace

Rearranger::Rearranger(const Comm& comm, std::shared_ptr<const Decomposition> decomposition,
                       Numbered<int> io_ranks, std::int64_t rearrange_bytes, NodeMessages* nodes,
                       bool by_nodes)
    : comm_(comm),
      decomposition_(std::move(decomposition)),
      shape_(MapShape::of(*decomposition_)),
      io_ranks_(std::move(io_ranks)),
      rearrange_bytes_(std::clamp(rearrange_bytes, 2 * k_least_bytes, 2 * k_most_bytes)),
      nodes_(nodes),
      by_nodes_(by_nodes) {
  const auto me = std::find(io_ranks_.begin(), io_ranks_.end(), comm.rank());
  if (me != io_ranks_.end()) my_io_ = static_cast<int>(me - io_ranks_.begin());
  comm.handle();  // all are here to make it
}

std::int64_t Rearranger::bytes() const {
  auto sum = static_cast<std::int64_t>(buffers_.in.bytes() + buffers_.out.bytes());
  for (const auto& lists : lists_) {
    sum += static_cast<std::int64_t>(lists->own.size() * sizeof(BoxCells) +
                                     lists->of_node.size() * sizeof(SendBlock));
    for (const auto& source : lists->sources)
      sum += source.where.bytes() + static_cast<std::int64_t>(sizeof source);
  }
  return sum;
}

// ---- Lists

const Rearranger::Lists* Rearranger::find_lists(const EvenPartition& cut) const {
  const int dim = mapped_dim_of(cut, shape_);
  const auto known = std::find_if(lists_.begin(), lists_.end(), [&](const auto& lists) {
    return dim >= 0 ? lists->dim == dim && lists->step == cut.step() && lists->used == cut.used()
                    : lists->dim < 0;
  });
  return known == lists_.end() ? nullptr : known->get();
}

const Rearranger::Lists& Rearranger::lists_for(const EvenPartition& cut) {
  if (const Lists* known = find_lists(cut)) return *known;
  lists_.push_back(std::make_unique<Lists>(make_lists(cut, mapped_dim_of(cut, shape_))));
  return *lists_.back();
}

Rearranger::Lists Rearranger::make_lists(const EvenPartition& cut, int dim) const {
  Lists lists;
  lists.dim = dim;
  lists.step = dim < 0 ? 1 : cut.step();
  lists.used = cut.used();
  std::vector<OwnCells> own;
  comm_.agree_or_throw(caught([&] {
    own = cells_of_boxes(*decomposition_->map(), shape_, cut);
    lists.own.reserve(own.size());
    for (const auto& cells : own)
      if (cells.where.cells() > 0) lists.own.push_back({cells.box, cells.where.cells()});
  }));
  swap_lists(lists, own);
  if (has_levels()) {
    Numbered<int> boxes(dim < 0 ? 1 : cut.parts());
    std::iota(boxes.begin(), boxes.end(), 0);
    Numbered<std::int64_t> mine(boxes.size(), 0);
    for (const auto& cells : lists.own)
      mine[cells.box] = cells.cells;
    lists.of_node = send_blocks_of_node(nodes_->nodes().node(), boxes, mine);
    for (const auto& send_block : lists.of_node)
      lists.most_of_node = std::max(lists.most_of_node, send_block.all);
  }
  for (const auto& cells : lists.own)
    lists.most_of_rank += cells.cells;
  const std::size_t parts = dim < 0 ? static_cast<std::size_t>(cut.parts()) : lists.own.size();
  lists.most_parts = static_cast<std::int64_t>(std::max(parts, lists.sources.size()));
  const auto most = comm_.max({lists.most_of_node, lists.most_of_rank, lists.most_parts});
  lists.most_of_node = most[0];
  lists.most_of_rank = most[1];
  lists.most_parts = most[2];
  if (my_io_ >= 0) {
    std::int64_t cells = 0;
    for (const auto& source : lists.sources)
      cells += source.where.cells();
    lists.complete = !decomposition_->repeated() && cells == rows_of_box(cut, shape_, my_io_).cells();
  }
  return lists;
}

// Forms first, so that there is memory for the rest before it is sent, and all ranks know if there is none.
void Rearranger::swap_lists(Lists& lists, const std::vector<OwnCells>& own) const {
  std::vector<int> to;
  std::vector<const IndexSet*> list;  // for these
  const auto add = [&](std::size_t box, const IndexSet& where) {
    if (where.cells() == 0) return;
    to.push_back(io_ranks_[box]);
    list.push_back(&where);
  };
  for (const auto& cells : own)
    if (lists.dim >= 0)
      add(static_cast<std::size_t>(cells.box), cells.where);
    else
      for (std::size_t box = 0; box < io_ranks_.size(); ++box)
        add(box, cells.where);
  const int expected = comm_.count_naming(to);
  std::vector<MPI_Request> requests;
  const auto send = [&](const void* data, std::int64_t bytes, int rank, int tag) {
    check_mpi(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, rank, tag, comm_.handle(),
                        &requests.emplace_back()),
              "MPI_Isend");
  };
  const auto receive = [&](void* data, std::int64_t bytes, int rank, int tag) {
    MPI_Status status;
    check_mpi(MPI_Recv(data, static_cast<int>(bytes), MPI_BYTE, rank, tag, comm_.handle(), &status),
              "MPI_Recv");
    return status.MPI_SOURCE;
  };
  const auto finish = [&] {
    check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
              "MPI_Waitall");
    requests.clear();
  };
  for (std::size_t i = 0; i < to.size(); ++i)
    send(&list[i]->form(), sizeof(IndexSet::Form), to[i], tags::rearranger_form);
  Numbered<std::pair<int, IndexSet::Form>> forms(expected);
  for (auto& [rank, form] : forms)
    rank = receive(&form, sizeof form, MPI_ANY_SOURCE, tags::rearranger_form);
  finish();
  std::sort(forms.begin(), forms.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  comm_.agree_or_throw(caught([&] {
    for (const auto& [rank, form] : forms)
      lists.sources.push_back({rank, IndexSet(form)});
  }));
  const auto in_parts = [](std::int64_t bytes, auto&& visit) {
    for (std::int64_t at = 0; at < bytes; at += k_most_bytes)
      visit(at, std::min(k_most_bytes, bytes - at));
  };
  for (std::size_t i = 0; i < to.size(); ++i)
    in_parts(list[i]->bytes(), [&](std::int64_t at, std::int64_t bytes) {
      send(list[i]->data() + at, bytes, to[i], tags::rearranger_list);
    });
  for (auto& source : lists.sources)
    in_parts(source.where.bytes(), [&](std::int64_t at, std::int64_t bytes) {
      receive(source.where.data() + at, bytes, source.rank, tags::rearranger_list);
    });
  finish();
}

// ---- Who sends what

// As large on all ranks, so that they all know when there is more to ask for, and agree whether it is there.
// What is not used of it is never touched.
void Rearranger::reserve(std::int64_t bytes) {
  const std::int64_t wanted = std::clamp(bytes, k_least_bytes, rearrange_bytes_ / 2);
  if (wanted <= buffers_.bytes) return;
  buffers_.bytes = 0;  // of() gives the old ones back first
  comm_.agree_or_throw(caught([&] {
    buffers_.out.of(wanted);
    buffers_.in.of(wanted);
  }));
  buffers_.bytes = wanted;
}

Rearranger::Call Rearranger::start(const Transfer& transfer, const Element& stored, const PartRules& rules) {
  const auto size = static_cast<std::int64_t>(stored.size);
  Call call{transfer.region, stored,
            EvenPartition(transfer.region, static_cast<int>(io_ranks_.size()), rules)};
  if (transfer.region.empty()) return call;
  call.lists = &lists_for(call.cut);
  call.by_nodes = goes_by_nodes(call);
  if (!call.by_nodes) {
    call.max_cells = std::max<std::int64_t>(1, rearrange_bytes_ / 2 / size);
    reserve(std::min(transfer.region.cells(), call.max_cells) * size);
  }
  call.rounds = rounds_of(call.cut, call.max_cells);
  return call;
}

// Cells that several ranks of a node read (halos) come to it as often: then a message may be larger than what
// it is cut from, and goes only if all of a box fits.
bool Rearranger::goes_by_nodes(Call& call) {
  if (!has_levels()) return false;
  const auto size = static_cast<std::int64_t>(call.stored.size);
  call.max_cells = nodes_->most_cell_bytes() / size;
  std::int64_t most = std::min(call.region.cells(), call.max_cells);
  if (decomposition_->repeated())
    for (const int io : call.cut.distinct_sizes()) {
      const Share share = share_of(call, io, 0);
      most = std::max(most, call.lists->most_of_node * share.part.values_per_cell());
      if (share.piece != call.cut.part(io) && !share.piece.empty()) return false;
      if (most > call.max_cells) return false;
    }
  nodes_->reserve(most * size);
  return nodes_->usable();
}

Rearranger::Share Rearranger::share_of(const Call& call, int io, std::int64_t round) const {
  return share_of_box(call.cut, shape_, io, call.max_cells, round);
}

/// Calls visit(box, cells) for the boxes that this rank has cells of.
template <class Visit>
void Rearranger::for_each_own(const Call& call, Visit&& visit) const {
  for (const auto& own : call.lists->own)
    for (int io = own.box; io < call.lists->end(own.box, call.cut); ++io)
      visit(io, own.cells);
}

Rearranger::Round Rearranger::round_of(const Call& call, std::int64_t number) const {
  const auto size = static_cast<std::int64_t>(call.stored.size);
  Round round;
  if (my_io_ >= 0) round.mine = share_of(call, my_io_, number);
  for_each_own(call, [&](int io, std::int64_t of_box) {
    Share share = share_of(call, io, number);
    const std::int64_t cells = cells_of_share(*decomposition_->map(), share, of_box);
    if (cells == 0) return;
    round.of_boxes.push_back({io_ranks_[io], cells * share.part.values_per_cell() * size});
    round.shares.push_back(std::move(share));
    round.boxes.push_back(static_cast<std::size_t>(io));
  });
  if (my_io_ < 0) round.mine.piece = nothing(call.region.rank());
  if (round.mine.piece.empty()) return round;
  const MappedPart& part = round.mine.part;
  for (const auto& source : call.lists->sources) {
    const bool all = part.end - part.low == part.rows.cells();
    const std::int64_t cells = all ? source.where.cells() : source.where.cells_in(part.low, part.end);
    if (cells == 0) continue;
    round.of_sources.push_back({source.rank, cells * part.values_per_cell() * size});
    round.where.push_back(&source.where);
  }
  return round;
}

// What the ranks of this node have of I/O ranks' pieces, in bytes. Only boxes of which they have cells are
// looked at.
SendBlocks Rearranger::send_blocks_of(const Call& call, const Round& round, std::int64_t number) const {
  const auto size = static_cast<std::int64_t>(call.stored.size);
  SendBlocks send_blocks;
  bool whole = true;
  for (const auto& cells : call.lists->of_node)
    for (int io = cells.io; io < call.lists->end(cells.io, call.cut); ++io) {
      const Share share = share_of(call, io, number);
      if (share.piece.empty()) continue;
      const std::int64_t bytes = share.part.values_per_cell() * size;  // of all values of a cell
      whole = whole && share.whole_box();
      send_blocks.push_back(cells);
      send_blocks.back().io = io;
      for (auto* n : {&send_blocks.back().all, &send_blocks.back().before, &send_blocks.back().mine})
        *n *= bytes;
    }
  if (whole) return send_blocks;
  std::vector<int> boxes;
  std::vector<std::int64_t> mine;
  std::size_t k = 0;
  for (const auto& send_block : send_blocks) {
    while (k < round.boxes.size() && static_cast<int>(round.boxes[k]) < send_block.io)
      ++k;
    const bool has = k < round.boxes.size() && static_cast<int>(round.boxes[k]) == send_block.io;
    boxes.push_back(send_block.io);
    mine.push_back(has ? round.of_boxes[k].bytes : 0);
  }
  return send_blocks_of_node(nodes_->nodes().node(), boxes, mine);
}

// ---- Fields that move with others

std::int64_t Rearranger::inner_values_of(const EvenPartition& cut, int io) const {
  const Box box = cut.part(io);
  if (box.empty()) return 0;
  std::int64_t inner_values = 1;
  const int outer_dims = box.rank() - shape_.rank();
  for (int d = 0; d < box.rank(); ++d)
    if (d < outer_dims || d >= outer_dims + shape_.mapped.size()) inner_values *= box.count[d];
  return inner_values;
}

std::optional<Rearranger::Plan> Rearranger::plan_of(const Box& region, const Element& stored,
                                                    const PartRules& rules, std::int64_t most_bytes) const {
  constexpr std::int64_t k_part_bytes = 64;  // of what is kept of each part on its way
  const auto size = static_cast<std::int64_t>(stored.size);
  if (region.empty() || region.cells() > most_bytes / size * static_cast<std::int64_t>(io_ranks_.size()))
    return std::nullopt;
  Plan plan;
  plan.stored = stored;
  plan.cut = EvenPartition(region, static_cast<int>(io_ranks_.size()), rules);
  for (const int box : plan.cut.distinct_sizes())
    plan.box_bytes = std::max(plan.box_bytes, plan.cut.part(box).cells() * size);
  if (plan.box_bytes > most_bytes) return std::nullopt;
  plan.lists = find_lists(plan.cut);
  if (plan.lists == nullptr) return std::nullopt;
  const std::int64_t items = region.cells() / std::max<std::int64_t>(1, volume(shape_.mapped));
  plan.rank_bytes = plan.lists->most_of_rank * items * size + plan.lists->most_parts * k_part_bytes;
  plan.mine = my_io_ >= 0 ? plan.cut.part(my_io_) : nothing(region.rank());
  plan.complete = plan.lists->complete;
  return plan;
}

ConversionErrors Rearranger::pack(const Plan& plan, const Transfer& transfer, const std::byte* fill,
                                  std::byte* to) const {
  const auto size = static_cast<std::int64_t>(plan.stored.size);
  ConversionErrors conversion_errors;
  for_each_part(plan, [&](int io, std::int64_t bytes) {
    if (takes_part(transfer))
      conversion_errors.merge(
          pack_mapped(transfer, share_of_box(plan.cut, shape_, io, plan.cut.part(io).cells(), 0).part,
                      plan.stored, to, fill),
          0);
    else
      fill_box(to, {size}, {bytes / size}, fill, plan.stored.size);
    to += bytes;
  });
  return conversion_errors;
}

void Rearranger::place(const Plan& plan, const IndexSet& where, const std::byte* from, std::int64_t bytes,
                       std::byte* box) const {
  const Share share = share_of_box(plan.cut, shape_, my_io_, plan.mine.cells(), 0);
  for_each_place(share.part, where, bytes, plan.stored.size,
                 [&](std::int64_t in_box, std::int64_t in_message, std::int64_t n) {
                   copy_bytes(box + in_box, from + in_message, n);
                 });
}

// ---- Moving

// Cells go from ranks to boxes, or back: pack is for box number k of the round and unpack from source number
// i, or the other way round.
void Rearranger::exchange(const Call& call, const Round& round, std::int64_t number, bool to_boxes,
                          const NodeMessages::Pack& pack, const NodeMessages::Unpack& unpack) {
  if (!call.by_nodes) {
    const auto& out = to_boxes ? round.of_boxes : round.of_sources;
    if (nodes_ != nullptr) nodes_->count(out);
    return exchange_messages(comm_, buffers_, out, pack, to_boxes ? round.of_sources : round.of_boxes,
                             unpack);
  }
  const auto number_of = [&](std::size_t io) {
    const auto at = std::lower_bound(round.boxes.begin(), round.boxes.end(), io);
    return static_cast<std::size_t>(at - round.boxes.begin());
  };
  const SendBlocks send_blocks = send_blocks_of(call, round, number);
  if (to_boxes)
    nodes_->to_io_ranks(
        send_blocks, [&](std::size_t io, std::byte* to) { return pack(number_of(io), to); }, round.of_sources,
        unpack);
  else
    nodes_->from_io_ranks(
        send_blocks,
        [&](std::size_t io, const std::byte* from, std::int64_t n) { unpack(number_of(io), from, n); },
        round.of_sources, pack);
}

ConversionErrors Rearranger::write(const Transfer& transfer, const Element& stored, const std::byte* fill,
                                   const PartRules& rules, const Handling& handling) {
  const Call call = start(transfer, stored, rules);
  ConversionErrors conversion_errors;
  for (std::int64_t number = 0; number < call.rounds; ++number) {
    const Round round = round_of(call, number);
    const Box& piece = round.mine.piece;
    std::byte* cells = piece.empty() ? nullptr : handling.buffer(bytes_of(piece, stored.size));
    const auto size = static_cast<std::int64_t>(stored.size);
    if (handling.load)
      handling.load(cells == nullptr ? nothing(piece.rank()) : piece, cells);
    else if (cells != nullptr && !call.lists->complete)
      fill_box(cells, {size}, {piece.cells()}, fill, stored.size);
    exchange(
        call, round, number, true,
        [&](std::size_t i, std::byte* to) -> std::int64_t {
          if (!takes_part(transfer)) return 0;
          conversion_errors.merge(pack_mapped(transfer, round.shares[i].part, stored, to, fill), 0);
          return round.of_boxes[i].bytes;
        },
        [&](std::size_t i, const std::byte* from, std::int64_t bytes) {
          if (cells == nullptr) return;
          for_each_place(round.mine.part, *round.where[i], round.of_sources[i].bytes, stored.size,
                         [&](std::int64_t in_piece, std::int64_t in_message, std::int64_t n) {
                           if (bytes > 0)
                             copy_bytes(cells + in_piece, from + in_message, n);
                           else if (!handling.load)
                             fill_box(cells + in_piece, {size}, {n / size}, fill, stored.size);
                         });
        });
    handling.store(cells == nullptr ? nothing(piece.rank()) : piece, cells);
  }
  return conversion_errors;
}

ConversionErrors Rearranger::read(const Transfer& transfer, const Element& stored, const PartRules& rules,
                                  const Handling& handling) {
  const Call call = start(transfer, stored, rules);
  ConversionErrors conversion_errors;
  for (std::int64_t number = 0; number < call.rounds; ++number) {
    const Round round = round_of(call, number);
    const Box& piece = round.mine.piece;
    std::byte* cells = piece.empty() ? nullptr : handling.buffer(bytes_of(piece, stored.size));
    handling.load(cells == nullptr ? nothing(piece.rank()) : piece, cells);
    exchange(
        call, round, number, false,
        [&](std::size_t i, std::byte* to) -> std::int64_t {
          if (cells == nullptr) return 0;
          for_each_place(round.mine.part, *round.where[i], round.of_sources[i].bytes, stored.size,
                         [&](std::int64_t in_piece, std::int64_t in_message, std::int64_t n) {
                           copy_bytes(to + in_message, cells + in_piece, n);
                         });
          return round.of_sources[i].bytes;
        },
        [&](std::size_t i, const std::byte* from, std::int64_t bytes) {
          if (bytes > 0 && takes_part(transfer))
            conversion_errors.merge(unpack_mapped(transfer, round.shares[i].part, stored, from), 0);
        });
  }
  return conversion_errors;
}

}  // namespace shoal
