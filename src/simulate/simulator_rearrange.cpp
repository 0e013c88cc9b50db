// SPDX-License-Identifier: BSD-3-Clause
// Cells that go to I/O ranks: of maps, and of tiles where the driver cannot store them.
#include "decomp/partition.hpp"
#include "driver/plans/rearrange_bytes.hpp"
#include "simulate/simulator.hpp"
#include "simulate/stage_use.hpp"

namespace shoal {

std::int64_t Simulator::Inbox::bytes() const {
  std::int64_t sum = 0;
  for (const auto& message : runs)
    sum += static_cast<std::int64_t>(sizeof message + message.bytes.size());
  for (const auto& from : cells)
    sum += static_cast<std::int64_t>(sizeof from) + from.where.bytes();
  return sum;
}

Simulator::Sent Simulator::plan_first(int rank, const Interest& interests) {
  Sent sent;
  const std::int64_t all = volume(mapped_->shape().mapped);
  sent.map = IndexMap(mapped_->cells_of(rank), all);
  if (interests.runs) sent.runs = runs_by_part(sent.map, all, field_.ranks);
  if (interests.cells) sent.own = cells_of_boxes(sent.map, boxes_.shape, cut_);
  return sent;
}

void Simulator::count_message(int from, int to, std::int64_t bytes) {
  if (from == to) return;
  if (is_chosen(from)) rank_sends_[from].add(bytes);
  const int box = box_of_rank_[to];
  writer_takes_[box].add(bytes);
  const int a = node_of(from);
  const int b = node_of(to);
  if (a == b) return;
  node_sends_[a].add(bytes);
  node_takes_[b].add(bytes);
}

void Simulator::count_cells(int from, int box, std::int64_t round, std::int64_t bytes) {
  const int to = io_ranks_[box];
  if (!by_nodes_) return count_message(from, to, bytes);
  if (node_of(from) == node_of(to)) return;  // through shared memory
  NodeCells& cells = node_cells_[{box, round}];
  cells.bytes += bytes;
  ++cells.ranks;
}

// What the ranks of a node put together goes as one message.
void Simulator::send_of_node() {
  for (const auto& [key, cells] : node_cells_) {
    const int first = field_.first_of_node(sending_node_);
    const int ranks = field_.first_of_node(sending_node_ + 1) - first;
    const int box = key.first;
    count_message(first + box % ranks, io_ranks_[box], cells.bytes + message_head(cells.ranks));
  }
  node_cells_.clear();
}

// How much goes at a time: through a window of each node where these have several ranks, else from rank to
// rank.
void Simulator::choose_pieces() {
  for (int node = 0; node < field_.nodes; ++node)
    most_ranks_ =
        std::max<std::int64_t>(most_ranks_, field_.first_of_node(node + 1) - field_.first_of_node(node));
  by_nodes_ = field_.nodes > 1 && most_ranks_ > 1;
  const auto size = static_cast<std::int64_t>(field_.size);
  max_cells_ = by_nodes_ ? most_message_cells(window_bytes(request_.options.stage), most_ranks_) / size
                         : std::max<std::int64_t>(1, rearrange_bytes(request_.options.stage) / 2 / size);
  out_.rounds = rounds_of(cut_, max_cells_);
}

// All ranks of a node keep the blocks that it sends.
void Simulator::end_of_node(Numbered<Cost>& costs) {
  if (sending_node_ < 0) return;
  send_of_node();
  const std::int64_t boxes = mapped_dim_of(cut_, boxes_.shape) < 0 ? 1 : cut_.parts();
  const auto kept = static_cast<std::int64_t>(node_boxes_.size() * sizeof(SendBlock));
  for (int r = field_.first_of_node(sending_node_); by_nodes_ && r < field_.first_of_node(sending_node_ + 1);
       ++r) {
    Cost& cost = costs[r];
    cost.peak = std::max(cost.peak, cost.kept + kept + k_send_block_work_bytes * boxes);
    cost.kept += kept;
  }
  node_boxes_.clear();
}

// The messages of one write of the whole field.
void Simulator::write_from(int rank, const Sent& sent) {
  const auto size = static_cast<std::int64_t>(field_.size);
  const auto send = [&](int box, std::int64_t of_box) {
    const int to = io_ranks_[box];
    if (!is_chosen(rank) && !is_chosen(to)) return;
    for (std::int64_t round = 0; round < out_.rounds; ++round) {
      const BoxShare share = share_of_box(cut_, boxes_.shape, box, max_cells_, round);
      const std::int64_t cells = cells_of_share(sent.map, share, of_box);
      if (cells > 0) count_cells(rank, box, round, cells * share.part.values_per_cell() * size);
    }
  };
  for (const auto& own : sent.own) {
    if (mapped_dim_of(cut_, boxes_.shape) >= 0)
      send(own.box, own.where.cells());
    else if (own.where.cells() > 0)
      for (int box = 0; box < cut_.parts(); ++box)
        send(box, own.where.cells());
  }
}

void Simulator::post(int rank, Sent&& sent) {
  for (auto& message : sent.runs)
    if (is_chosen(message.rank)) inboxes_[message.rank].runs.push_back({rank, std::move(message.bytes)});
  const bool for_all = mapped_dim_of(cut_, boxes_.shape) < 0;
  for (auto& own : sent.own) {
    if (own.where.cells() == 0) continue;
    for (int box = for_all ? 0 : own.box; box < (for_all ? cut_.parts() : own.box + 1); ++box) {
      const int to = io_ranks_[box];
      if (is_chosen(to)) inboxes_[to].cells.push_back({rank, own.where});
    }
  }
}

void Simulator::plan_second(int rank, Cost& cost) {
  Inbox inbox = std::move(inboxes_[rank]);
  const std::int64_t came = inbox.bytes();
  const ResourceProbe probe(request_.meter);
  const OwnedPart part = part_of_rank(inbox.runs, field_, mapped_->shape(), rank);
  cost.add(probe, cost.kept + came + k_gathered_bytes * field_.ranks);
  cost.kept += part.unowned.bytes();
  for (const auto& from : inbox.cells)
    cost.kept += static_cast<std::int64_t>(sizeof from) + from.where.bytes();
}

// As an I/O rank stores its pieces (RearrangedPath::move_box).
template <class Visit>
void Simulator::box_extents(int box, Visit&& visit) const {
  const Pieces pieces(cut_.part(box), max_cells_);
  for (std::int64_t i = 0; i < pieces.count(); ++i)
    for_each_piece({pieces.piece(i)}, boxes_.chunk, max_cells_, [&](const Piece& piece) {
      ExtentMerger merger(visit);
      add_extents(piece, boxes_.chunk, field_.size,
                  address_of(field_, piece.chunk_index, boxes_.region, boxes_.chunk), 0, merger);
      merger.flush();
    });
}

void Simulator::store_box(int box) {
  const int rank = io_ranks_[box];
  std::int64_t load = 0;
  std::int64_t count = 0;
  box_extents(box, [&](const Extent& extent) {
    load += extent.bytes;
    ++count;
    extent_bytes_.add(extent.bytes, rank);
  });
  loads_.add(load, rank);
  extents_.add(count, rank);
}

// Of a sample: the ranks that those of chosen nodes hear from.
Numbered<Simulator::Interest> Simulator::find_interests() const {
  Numbered<Interest> interests(field_.ranks);
  if (std::find(chosen_.begin(), chosen_.end(), false) == chosen_.end()) return interests;
  std::vector<Box> boxes;
  std::vector<std::pair<std::int64_t, std::int64_t>> parts;
  const std::int64_t all = volume(mapped_->shape().mapped);
  for (int box = 0; box < cut_.parts(); ++box)
    if (is_chosen(io_ranks_[box])) boxes.push_back(cut_.part(box));
  boxes = merged(std::move(boxes));
  for (int r = 0; r < field_.ranks; ++r)
    if (is_chosen(r)) {
      const std::int64_t first = first_of_part(all, field_.ranks, r);
      const std::int64_t end = first_of_part(all, field_.ranks, r + 1);
      if (!parts.empty() && parts.back().second == first)
        parts.back().second = end;
      else
        parts.emplace_back(first, end);
    }
  const auto any = [](const auto& list, auto&& may_have) {
    return std::any_of(list.begin(), list.end(), may_have);
  };
  for (int r = 0; r < field_.ranks; ++r) {
    Interest& m = interests[r];
    m.cells = is_chosen(r) || any(boxes, [&](const Box& box) {
                if (boxes_.region.rank() == region_.rank()) return mapped_->may_have(r, box);
                const int row = box.rank() - boxes_.shape.rank();
                return mapped_->may_have(r, box.first[row], box.end(row));
              });
    m.runs = is_chosen(r) ||
             any(parts, [&](const auto& part) { return mapped_->may_have(r, part.first, part.second); });
  }
  return interests;
}

void Simulator::rearrange() {
  mapped_.emplace(field_);
  const ResourceProbe choosing(request_.meter);
  io_ranks_ = simulated_io_ranks(field_, request_.options);
  const Seconds to_choose = choosing.seconds();
  const int boxes = io_ranks_.count();
  box_of_rank_ = Numbered<int>(field_.ranks, -1);
  for (int box = 0; box < boxes; ++box)
    box_of_rank_[io_ranks_[box]] = box;
  boxes_ = simulated_boxes(field_, mapped_->shape(), request_.options, request_.native);
  cut_ = EvenPartition(boxes_.region, boxes, boxes_.rules());
  choose_pieces();
  const auto list = static_cast<std::int64_t>(io_ranks_.size() * sizeof(int));
  inboxes_ = Numbered<Inbox>(field_.ranks);
  rank_sends_ = Numbered<Traffic>(field_.ranks);
  node_sends_ = node_takes_ = Numbered<Traffic>(field_.nodes);
  writer_takes_ = Numbered<Traffic>(boxes);
  choose_nodes(projected(field_.ranks, [&](int rank) { plan_first(rank, {}); }) +
               projected(boxes, [&](int box) { box_extents(box, [](const Extent&) {}); }));

  const Numbered<Interest> interests = find_interests();
  Numbered<Cost> costs(field_.ranks);
  for (int r = 0; r < field_.ranks; ++r) {
    const Interest& heard = interests[r];
    if (!heard.runs && !heard.cells) continue;
    Cost& cost = costs[r];
    if (!field_.is_map() && is_chosen(r)) {
      cost = plan_block(r);
      if (request_.native) plan_share(r, cost);
    }
    const ResourceProbe probe(request_.meter);
    Sent sent = plan_first(r, heard);
    cost.add(probe, cost.kept + list + k_gathered_bytes * field_.ranks);
    cost.seconds += to_choose;
    cost.kept += list + sent.map.bytes() + static_cast<std::int64_t>(sent.own.size() * sizeof(BoxCells));
    cost.add(strategy_->cost_of_node(node_of(r)));
    if (node_of(r) != sending_node_) end_of_node(costs);
    sending_node_ = node_of(r);
    for (const auto& own : sent.own)
      node_boxes_.insert(own.box);
    write_from(r, sent);
    post(r, std::move(sent));
  }
  end_of_node(costs);
  for (int r = 0; r < field_.ranks; ++r) {
    if (!is_chosen(r)) continue;
    plan_second(r, costs[r]);
    note(r, costs[r]);
    if (const int box = box_of_rank_[r]; box >= 0) store_box(box);
  }
  out_.writers = boxes;
  for (int box = 0; box < boxes; ++box)
    out_.boxes.push_back({io_ranks_[box], cut_.part(box)});
}

}  // namespace shoal
