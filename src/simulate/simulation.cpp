// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/simulation.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "decomp/partition.hpp"
#include "driver/io_ranks.hpp"
#include "driver/native/field.hpp"
#include "driver/native/shapes.hpp"
#include "driver/node_messages.hpp"
#include "simulate/weigh.hpp"

namespace shoal {

namespace {

constexpr int k_trial = 64;  // ranks that tell how long all take
class Simulator {
 public:
  explicit Simulator(const SimulationWish& wish)
      : wish_(wish),
        field_(wish.field),
        region_(Box::whole(field_.global)),
        chunk_(field_.chunk.empty() ? field_.global : field_.chunk),
        first_(field_.first_of_nodes()),
        chosen_(static_cast<std::size_t>(field_.nodes), true) {}

  Simulation run();

 private:
  // ---- which nodes
  int node_of(int rank) const {
    return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), rank) - first_.begin()) - 1;
  }
  bool is_chosen(int rank) const { return chosen_[static_cast<std::size_t>(node_of(rank))]; }
  template <class Work>
  Seconds projected(int n, Work&& work) const;
  void choose_nodes(Seconds all);

  // ---- tiles
  Cost plan_block(int rank);
  NodeShare share_of(int node);
  NodeShare plan_share(int rank, Cost& cost);
  void store_direct();
  NodeShare share_by_tiles(int node);
  NodeShare share_by_map(int node);
  void store_through_stage(int node, const NodeShare& share);
  void store_past_stage(int node, const NodeShare& share);
  std::uint64_t address_of(const Dims& chunk_index, const Box& region, const Dims& chunk) const;

  // ---- maps
  struct Mail {
    std::vector<Parcel> runs;
    struct Cells {
      int rank;
      Positions where;
    };
    std::vector<Cells> cells;
    std::int64_t bytes() const;
  };
  struct Sent {
    std::vector<Parcel> runs;
    std::vector<OwnCells> own;
    IndexMap map;
  };
  /// What chosen ranks hear from a rank.
  struct Matters {
    bool runs = true, cells = true;
  };
  Sent plan_first(int rank, const Matters& matters);
  void post(int rank, Sent&& sent);
  void write_from(int rank, const Sent& sent);
  void plan_second(int rank, Cost& cost);
  template <class Visit>
  void box_extents(int box, Visit&& visit) const;
  void store_box(int box);
  void count_message(int from, int to, std::int64_t bytes);
  void count_cells(int from, int box, std::int64_t round, std::int64_t bytes);
  void send_of_node();
  void choose_pieces();
  void end_of_node(std::vector<Cost>& costs);
  void exchange();
  std::vector<Matters> who_matters() const;

  void note(int rank, const Cost& cost) {
    seconds_.add(cost.seconds, rank);
    peaks_.add(cost.peak, rank);
    kept_.add(cost.kept, rank);
  }

  const SimulationWish& wish_;
  const PretendedField& field_;
  Box region_;
  Dims chunk_;
  std::vector<int> first_;
  std::vector<bool> chosen_;
  Simulation out_;
  Collector<double> seconds_;
  Collector<std::int64_t> peaks_, kept_, loads_, extents_;
  Tally extent_bytes_;

  std::vector<Box> unowned_;
  std::vector<std::vector<Box>> unowned_of_;

  std::optional<Weighing> weighing_;
  std::optional<MappedField> mapped_;
  std::vector<int> io_ranks_;
  std::vector<int> box_of_rank_;  ///< -1: no I/O rank
  PretendedBoxes boxes_;
  EvenCut cut_;
  std::int64_t max_cells_ = 0;
  std::vector<Mail> mail_;
  struct Traffic {
    std::int64_t messages = 0, bytes = 0;
    void add(std::int64_t n) {
      ++messages;
      bytes += n;
    }
  };
  // In two levels: what ranks of one node have for an I/O rank in a round.
  bool by_nodes_ = false;
  std::int64_t most_ranks_ = 0;  ///< of a node
  int sending_node_ = -1;
  std::set<int> node_boxes_;  ///< of which its ranks have cells
  struct NodeCells {
    std::int64_t bytes = 0, ranks = 0;
  };
  std::map<std::pair<int, std::int64_t>, NodeCells> node_cells_;
  std::vector<Traffic> rank_sends_, node_sends_, node_takes_, writer_takes_;
};

// ---- Which nodes

// Seconds that work(0) .. work(n - 1) will take, from some of them.
template <class Work>
Seconds Simulator::projected(int n, Work&& work) const {
  const Seconds start = now();
  int done = 0;
  for (int i = 0; i < std::min(k_trial, n) && (done == 0 || now() - start < wish_.budget / 10); ++i, ++done)
    work(static_cast<int>(static_cast<std::int64_t>(i) * n / std::min(k_trial, n)));
  return (now() - start) / done * n;
}

// If all would take too long: nodes evenly over all, those of the corners among them, as many as there is
// time for.
void Simulator::choose_nodes(Seconds all) {
  if (all <= wish_.budget) return;
  // Half of the time for these, the other half for what other ranks have for them.
  const auto fit = static_cast<int>(wish_.budget / 2 / all * field_.nodes);
  const int nodes = std::clamp(fit, std::min(std::max(1, wish_.least_nodes), field_.nodes), field_.nodes);
  if (nodes == field_.nodes) return;
  std::fill(chosen_.begin(), chosen_.end(), false);
  for (int i = 0; i < nodes; ++i) {
    const std::int64_t last = field_.nodes - 1;
    chosen_[static_cast<std::size_t>(nodes == 1 ? 0 : i * last / (nodes - 1))] = true;
  }
  chosen_.front() = chosen_.back() = true;
  for (const int rank : field_.corners)
    chosen_[static_cast<std::size_t>(node_of(rank))] = true;
}

// ---- Tiles

Cost Simulator::plan_block(int rank) {
  std::vector<std::int64_t> numbers;
  if (rank == 0) {
    numbers.reserve(static_cast<std::size_t>(field_.ranks) * 2 *
                    static_cast<std::size_t>(field_.global.size()));
    for (int r = 0; r < field_.ranks; ++r)
      for (const auto n : numbers_of_tile(field_.tile(r)))
        numbers.push_back(n);
  }
  const auto gathered = static_cast<std::int64_t>(numbers.capacity() * sizeof(std::int64_t));
  Cost cost;
  const Gauge gauge(wish_.meter);
  if (rank == 0)
    unowned_ = unowned_by_tiles(field_.global, std::move(numbers));
  else
    numbers_of_tile(field_.tile(rank));
  cost.add(gauge, gathered);
  cost.kept = rank == 0 ? static_cast<std::int64_t>(unowned_.capacity() * sizeof(Box)) : 0;
  return cost;
}

NodeShare Simulator::share_of(int node) {
  std::vector<Box> tiles;
  for (int r = field_.first_of_node(node); r < field_.first_of_node(node + 1); ++r)
    if (const Box tile = field_.tile(r); !tile.empty()) tiles.push_back(tile);
  std::vector<Box> unowned;
  if (!unowned_of_.empty()) unowned = unowned_of_[static_cast<std::size_t>(node)];
  return share_of_tiles(field_.global, tiles, tiles, std::move(unowned));
}

NodeShare Simulator::plan_share(int rank, Cost& cost) {
  const Gauge gauge(wish_.meter);
  NodeShare share = share_of(node_of(rank));
  cost.add(gauge, cost.kept + k_gathered_bytes * field_.ranks);
  cost.kept += static_cast<std::int64_t>(
      (share.store.capacity() + share.unowned.capacity() + share.owned.capacity() + share.fetch.capacity()) *
      sizeof(Box));
  return share;
}

std::uint64_t Simulator::address_of(const Dims& chunk_index, const Box& region, const Dims& chunk) const {
  const Box chunks = chunks_of(region, chunk);
  return static_cast<std::uint64_t>(position_in(chunk_index, chunks) * volume(chunk)) * field_.size;
}

// As FieldWriter fills slots, and shares of them are stored.
void Simulator::store_through_stage(int node, const NodeShare& share) {
  const int ranks = field_.first_of_node(node + 1) - field_.first_of_node(node);
  const StageShape stage = stage_shape(wish_.options_of_node(node), ranks);
  const auto size = static_cast<std::int64_t>(field_.size);
  Filling filling;
  std::int64_t load = 0;
  std::int64_t writes = 0;
  const auto store = [&] {
    for (std::uint32_t s = 0; s < filling.shares(); ++s)
      filling.for_each_extent(s, nullptr, [&](const Extent& extent) {
        load += extent.bytes;
        ++writes;
        extent_bytes_.add(extent.bytes, node);
      });
    filling = Filling();
    filling.share_evenly(stage.slot_bytes, stage.writers);
  };
  store();
  for_each_piece(share.store, chunk_, stage.slot_bytes / size, [&](const Piece& piece) {
    StagedPiece staged{piece, 0, address_of(piece.chunk_index, region_, chunk_), -1, chunk_, field_.size,
                       -1,    {}};
    if (!filling.has_room(staged.bytes(), stage.slot_bytes)) store();
    if (filling.pieces.empty()) filling.align();
    staged.in_stage = filling.used;
    filling.used += staged.bytes();
    if (!field_.chunk.empty()) ++filling.addresses;
    filling.pieces.push_back(staged);
  });
  store();
  loads_.add(load, node);
  extents_.add(writes, node);
}

void Simulator::store_past_stage(int node, const NodeShare& share) {
  const int first = field_.first_of_node(node);
  const int ranks = field_.first_of_node(node + 1) - first;
  for (int r = 0; r < ranks; ++r) {
    std::vector<Box> boxes{field_.tile(first + r)};
    for (std::size_t i = static_cast<std::size_t>(r); i < share.unowned.size();
         i += static_cast<std::size_t>(ranks))
      boxes.push_back(share.unowned[i]);
    std::int64_t load = 0, writes = 0;
    for (const auto& box : boxes) {
      ExtentMerger merger([&](const Extent& extent) {
        load += extent.bytes;
        ++writes;
        extent_bytes_.add(extent.bytes, first + r);
      });
      std::int64_t at = 0;
      for_each_piece({box}, chunk_, box.cells(), [&](const Piece& piece) {
        add_extents(piece, chunk_, field_.size, address_of(piece.chunk_index, region_, chunk_), at, merger);
        at += piece.cells.cells() * static_cast<std::int64_t>(field_.size);
      });
      merger.flush();
    }
    loads_.add(load, first + r);
    extents_.add(writes, first + r);
  }
}

NodeShare Simulator::share_by_tiles(int node) {
  NodeShare share;
  for (int r = field_.first_of_node(node); r < field_.first_of_node(node + 1); ++r) {
    Cost cost = plan_block(r);
    share = plan_share(r, cost);
    note(r, cost);
  }
  return share;
}

NodeShare Simulator::share_by_map(int node) {
  NodeShare share;
  share.store = within_region(weighing_->boxes_of(node), region_);
  for (int r = field_.first_of_node(node); r < field_.first_of_node(node + 1); ++r) {
    Cost cost = weighing_->cost_of_rank(r);
    cost.add(weighing_->cost_of_node(node));
    note(r, cost);
  }
  return share;
}

void Simulator::store_direct() {
  if (!field_.is_map()) choose_nodes(projected(field_.ranks, [&](int rank) { share_of(node_of(rank)); }));
  bool past = true;
  for (int node = 0; node < field_.nodes; ++node) {
    if (!chosen_[static_cast<std::size_t>(node)]) continue;
    const NodeShare share = field_.is_map() ? share_by_map(node) : share_by_tiles(node);
    const bool here = wish_.options.writers == 0 && field_.chunk.empty() &&
                      are_long_runs(share, field_.global, chunk_, field_.size, wish_.options.direct_bytes);
    past = past && here;
    here ? store_past_stage(node, share) : store_through_stage(node, share);
  }
  out_.writer = past ? Writer::rank : Writer::node;
  out_.writers = past ? field_.ranks : field_.nodes;
}

// ---- Maps

std::int64_t Simulator::Mail::bytes() const {
  std::int64_t sum = 0;
  for (const auto& parcel : runs)
    sum += static_cast<std::int64_t>(sizeof parcel + parcel.bytes.size());
  for (const auto& from : cells)
    sum += static_cast<std::int64_t>(sizeof from) + from.where.bytes();
  return sum;
}

Simulator::Sent Simulator::plan_first(int rank, const Matters& matters) {
  Sent sent;
  const std::int64_t all = volume(mapped_->shape().mapped);
  sent.map = IndexMap(mapped_->cells_of(rank), all);
  if (matters.runs) sent.runs = runs_by_part(sent.map, all, field_.ranks);
  if (matters.cells) sent.own = cells_of_boxes(sent.map, boxes_.shape, cut_);
  return sent;
}

void Simulator::count_message(int from, int to, std::int64_t bytes) {
  if (from == to) return;
  if (is_chosen(from)) rank_sends_[static_cast<std::size_t>(from)].add(bytes);
  const int box = box_of_rank_[static_cast<std::size_t>(to)];
  writer_takes_[static_cast<std::size_t>(box)].add(bytes);
  const int a = node_of(from);
  const int b = node_of(to);
  if (a == b) return;
  node_sends_[static_cast<std::size_t>(a)].add(bytes);
  node_takes_[static_cast<std::size_t>(b)].add(bytes);
}

void Simulator::count_cells(int from, int box, std::int64_t round, std::int64_t bytes) {
  const int to = io_ranks_[static_cast<std::size_t>(box)];
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
    const auto ranks = static_cast<std::size_t>(field_.first_of_node(sending_node_ + 1) - first);
    const auto box = static_cast<std::size_t>(key.first);
    count_message(first + static_cast<int>(box % ranks), io_ranks_[box],
                  cells.bytes + message_head(cells.ranks));
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
  max_cells_ = by_nodes_ ? most_message_cells(window_bytes(wish_.options), most_ranks_) / size
                         : std::max<std::int64_t>(1, exchange_bytes(wish_.options) / 2 / size);
  out_.rounds = rounds_of(cut_, max_cells_);
}

// All ranks of a node keep the letters that it sends.
void Simulator::end_of_node(std::vector<Cost>& costs) {
  if (sending_node_ < 0) return;
  send_of_node();
  const std::int64_t boxes = mapped_dim_of(cut_, boxes_.shape) < 0 ? 1 : cut_.parts();
  const auto kept = static_cast<std::int64_t>(node_boxes_.size() * sizeof(Letter));
  for (int r = field_.first_of_node(sending_node_); by_nodes_ && r < field_.first_of_node(sending_node_ + 1);
       ++r) {
    Cost& cost = costs[static_cast<std::size_t>(r)];
    cost.peak = std::max(cost.peak, cost.kept + kept + k_letter_work_bytes * boxes);
    cost.kept += kept;
  }
  node_boxes_.clear();
}

// The messages of one write of the whole field.
void Simulator::write_from(int rank, const Sent& sent) {
  const auto size = static_cast<std::int64_t>(field_.size);
  const auto send = [&](int box, std::int64_t of_box) {
    const int to = io_ranks_[static_cast<std::size_t>(box)];
    if (!is_chosen(rank) && !is_chosen(to)) return;
    for (std::int64_t round = 0; round < out_.rounds; ++round) {
      const BoxShare share = share_of_box(cut_, boxes_.shape, box, max_cells_, round);
      const std::int64_t cells = cells_of_share(sent.map, share, of_box);
      if (cells > 0) count_cells(rank, box, round, cells * share.part.around() * size);
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
  for (auto& parcel : sent.runs)
    if (is_chosen(parcel.rank))
      mail_[static_cast<std::size_t>(parcel.rank)].runs.push_back({rank, std::move(parcel.bytes)});
  const bool for_all = mapped_dim_of(cut_, boxes_.shape) < 0;
  for (auto& own : sent.own) {
    if (own.where.cells() == 0) continue;
    for (int box = for_all ? 0 : own.box; box < (for_all ? cut_.parts() : own.box + 1); ++box) {
      const int to = io_ranks_[static_cast<std::size_t>(box)];
      if (is_chosen(to)) mail_[static_cast<std::size_t>(to)].cells.push_back({rank, own.where});
    }
  }
}

void Simulator::plan_second(int rank, Cost& cost) {
  Mail mail = std::move(mail_[static_cast<std::size_t>(rank)]);
  const std::int64_t came = mail.bytes();
  const Gauge gauge(wish_.meter);
  const OwnedPart part = part_of_rank(mail.runs, field_, mapped_->shape(), rank);
  cost.add(gauge, cost.kept + came + k_gathered_bytes * field_.ranks);
  cost.kept += part.unowned.bytes();
  for (const auto& from : mail.cells)
    cost.kept += static_cast<std::int64_t>(sizeof from) + from.where.bytes();
}

// As an I/O rank stores its pieces (NativeDriver::move_box).
template <class Visit>
void Simulator::box_extents(int box, Visit&& visit) const {
  const Pieces pieces(cut_.part(box), max_cells_);
  for (std::int64_t i = 0; i < pieces.count(); ++i)
    for_each_piece({pieces.piece(i)}, boxes_.chunk, max_cells_, [&](const Piece& piece) {
      ExtentMerger merger(visit);
      add_extents(piece, boxes_.chunk, field_.size,
                  address_of(piece.chunk_index, boxes_.region, boxes_.chunk), 0, merger);
      merger.flush();
    });
}

void Simulator::store_box(int box) {
  const int rank = io_ranks_[static_cast<std::size_t>(box)];
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
std::vector<Simulator::Matters> Simulator::who_matters() const {
  std::vector<Matters> matters(static_cast<std::size_t>(field_.ranks));
  if (std::find(chosen_.begin(), chosen_.end(), false) == chosen_.end()) return matters;
  std::vector<Box> boxes;
  std::vector<std::pair<std::int64_t, std::int64_t>> parts;
  const std::int64_t all = volume(mapped_->shape().mapped);
  for (int box = 0; box < cut_.parts(); ++box)
    if (is_chosen(io_ranks_[static_cast<std::size_t>(box)])) boxes.push_back(cut_.part(box));
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
    Matters& m = matters[static_cast<std::size_t>(r)];
    m.cells = is_chosen(r) || any(boxes, [&](const Box& box) {
                if (boxes_.region.rank() == region_.rank()) return mapped_->may_have(r, box);
                const int row = box.rank() - boxes_.shape.rank();
                return mapped_->may_have(r, box.first[row], box.end(row));
              });
    m.runs = is_chosen(r) ||
             any(parts, [&](const auto& part) { return mapped_->may_have(r, part.first, part.second); });
  }
  return matters;
}

void Simulator::exchange() {
  mapped_.emplace(field_);
  const Gauge choosing(wish_.meter);
  io_ranks_ = pretended_io_ranks(field_, wish_.options);
  const Seconds to_choose = choosing.seconds();
  const auto boxes = static_cast<int>(io_ranks_.size());
  box_of_rank_.assign(static_cast<std::size_t>(field_.ranks), -1);
  for (int box = 0; box < boxes; ++box)
    box_of_rank_[static_cast<std::size_t>(io_ranks_[static_cast<std::size_t>(box)])] = box;
  boxes_ = pretended_boxes(field_, mapped_->shape(), wish_.options, wish_.native);
  cut_ = EvenCut(boxes_.region, boxes, boxes_.borders);
  choose_pieces();
  const auto list = static_cast<std::int64_t>(io_ranks_.size() * sizeof(int));
  mail_.resize(static_cast<std::size_t>(field_.ranks));
  rank_sends_.resize(static_cast<std::size_t>(field_.ranks));
  node_sends_.resize(static_cast<std::size_t>(field_.nodes));
  node_takes_.resize(static_cast<std::size_t>(field_.nodes));
  writer_takes_.resize(static_cast<std::size_t>(boxes));
  choose_nodes(projected(field_.ranks, [&](int rank) { plan_first(rank, {}); }) +
               projected(boxes, [&](int box) { box_extents(box, [](const Extent&) {}); }));

  const std::vector<Matters> matters = who_matters();
  std::vector<Cost> costs(static_cast<std::size_t>(field_.ranks));
  for (int r = 0; r < field_.ranks; ++r) {
    const Matters& heard = matters[static_cast<std::size_t>(r)];
    if (!heard.runs && !heard.cells) continue;
    Cost& cost = costs[static_cast<std::size_t>(r)];
    if (!field_.is_map() && is_chosen(r)) {
      cost = plan_block(r);
      if (wish_.native) plan_share(r, cost);
    }
    const Gauge gauge(wish_.meter);
    Sent sent = plan_first(r, heard);
    cost.add(gauge, cost.kept + list + k_gathered_bytes * field_.ranks);
    cost.seconds += to_choose;
    cost.kept += list + sent.map.bytes() + static_cast<std::int64_t>(sent.own.size() * sizeof(BoxCells));
    cost.add(weighing_->cost_of_node(node_of(r)));
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
    plan_second(r, costs[static_cast<std::size_t>(r)]);
    note(r, costs[static_cast<std::size_t>(r)]);
    if (const int box = box_of_rank_[static_cast<std::size_t>(r)]; box >= 0) store_box(box);
  }
  out_.writers = boxes;
  for (int box = 0; box < boxes; ++box)
    out_.boxes.push_back({io_ranks_[static_cast<std::size_t>(box)], cut_.part(box)});
}

// ---- All

Simulation Simulator::run() {
  const Seconds start = now();
  if (!field_.is_map()) {
    plan_block(0);
    unowned_of_ = dealt_to_nodes(unowned_, field_.nodes);
  }
  weighing_.emplace(wish_, [&](int node) { return share_of(node); });
  out_.exchanged = weighing_->exchange;
  out_.why = weighing_->why;
  if (out_.exchanged)
    exchange();
  else
    store_direct();

  out_.plan_seconds = seconds_.figures();
  out_.plan_bytes = peaks_.figures();
  out_.kept_bytes = kept_.figures();
  out_.ranks = out_.plan_seconds.count;
  out_.loads = loads_.figures();
  out_.extents = extents_.figures();
  out_.extent_bytes = extent_bytes_.figures();
  out_.nodes = std::count(chosen_.begin(), chosen_.end(), true);
  out_.simulated = chosen_;
  const auto traffic = [&](const std::vector<Traffic>& of, auto&& is_simulated,
                           Figures<std::int64_t>& messages, Figures<std::int64_t>& bytes, auto&& name) {
    Collector<std::int64_t> m;
    Collector<std::int64_t> b;
    for (int i = 0; i < static_cast<int>(of.size()); ++i) {
      if (!is_simulated(i)) continue;
      m.add(of[static_cast<std::size_t>(i)].messages, name(i));
      b.add(of[static_cast<std::size_t>(i)].bytes, name(i));
    }
    messages = m.figures();
    bytes = b.figures();
  };
  const auto self = [](int i) { return i; };
  const auto node = [&](int i) { return static_cast<bool>(chosen_[static_cast<std::size_t>(i)]); };
  const auto io = [&](int i) { return io_ranks_[static_cast<std::size_t>(i)]; };
  traffic(
      rank_sends_, [&](int r) { return is_chosen(r); }, out_.messages, out_.bytes, self);
  traffic(node_sends_, node, out_.node_messages, out_.node_bytes, self);
  traffic(node_takes_, node, out_.node_takes_messages, out_.node_takes_bytes, self);
  traffic(
      writer_takes_, [&](int i) { return is_chosen(io(i)); }, out_.writer_messages, out_.writer_bytes, io);
  out_.seconds = now() - start;
  return std::move(out_);
}

}  // namespace

Simulation simulate_nodes(const SimulationWish& wish) {
  return Simulator(wish).run();
}

}  // namespace shoal
