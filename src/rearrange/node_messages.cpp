// SPDX-License-Identifier: BSD-3-Clause
#include "rearrange/node_messages.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "comm/tags.hpp"

namespace shoal {

namespace {

constexpr std::int64_t k_least_room = 4096;        // beside the heads
constexpr std::size_t k_most_node_requests = 256;  // of messages that an I/O rank waits for at a time
constexpr std::int64_t k_most_message = std::int64_t{1} << 30;  // MPI counts in int

/// Of a send block with its head, whose parts are in bytes.
std::int64_t send_block_bytes(const SendBlock& send_block) {
  return message_head(send_block.ranks) + send_block.all;
}

/// Where this rank's cells begin in it.
std::int64_t place_of_mine(const SendBlock& send_block) {
  return message_head(send_block.ranks) + send_block.before;
}

}  // namespace

// Sums over the ranks of the node: what is kept does not grow with them.
SendBlocks send_blocks_of_node(const Comm& node, const std::vector<int>& io_ranks,
                               const std::vector<std::int64_t>& mine) {
  const std::size_t n = mine.size();
  std::vector<std::int64_t> own(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    own[i] = mine[i];
    own[n + i] = mine[i] > 0 ? 1 : 0;
  }
  std::vector<std::int64_t> through(2 * n);  // this rank
  std::vector<std::int64_t> all(2 * n);
  const auto count = static_cast<int>(2 * n);
  check_mpi(MPI_Scan(own.data(), through.data(), count, MPI_INT64_T, MPI_SUM, node.handle()), "MPI_Scan");
  check_mpi(MPI_Allreduce(own.data(), all.data(), count, MPI_INT64_T, MPI_SUM, node.handle()),
            "MPI_Allreduce");
  SendBlocks send_blocks;
  send_blocks.reserve(
      std::count_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), [](auto c) { return c > 0; }));
  for (std::size_t i = 0; i < n; ++i)
    if (all[i] > 0)
      send_blocks.push_back({io_ranks[i], static_cast<int>(all[n + i]),
                             static_cast<int>(through[n + i] - own[n + i]), all[i], through[i] - own[i],
                             own[i]});
  return send_blocks;
}

std::int64_t most_message_cells(std::int64_t window_bytes, std::int64_t ranks) {
  return std::clamp(window_bytes - message_head(ranks), k_least_room, k_most_message);
}

/// What is under way.
class NodeRequests {
 public:
  enum class Kind { receive, send, barrier };
  struct Over {
    Kind kind;
    std::size_t index;
  };
  void start(Kind kind, const Comm& comm, std::byte* message, std::int64_t bytes, int rank,
             std::size_t index) {
    const auto n = static_cast<int>(bytes);
    if (kind == Kind::receive)
      check_mpi(
          MPI_Irecv(message, n, MPI_BYTE, rank, tags::rearranged_by_node, comm.handle(), add(kind, index)),
          "MPI_Irecv");
    else
      check_mpi(
          MPI_Isend(message, n, MPI_BYTE, rank, tags::rearranged_by_node, comm.handle(), add(kind, index)),
          "MPI_Isend");
  }
  // The ranks of the node wait for each other, in MPI: what others wait for goes on meanwhile.
  void start_barrier(const Comm& node) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    check_mpi(MPI_Ibarrier(node.handle(), add(Kind::barrier, 0)), "MPI_Ibarrier");
  }
  bool empty() const { return requests_.empty(); }
  bool has(Kind kind) const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const Over& entry) { return entry.kind == kind; });
  }
  /// Waits until something is over.
  std::vector<Over> wait() {
    const auto n = static_cast<int>(requests_.size());
    Numbered<int> which(n);
    int count = 0;
    check_mpi(MPI_Waitsome(n, requests_.data(), &count, which.data(), MPI_STATUSES_IGNORE), "MPI_Waitsome");
    std::vector<Over> over;
    for (int k = 0; k < count; ++k)
      over.push_back(entries_[which[k]]);
    for (int i = n; i-- > 0;)
      if (requests_[i] == MPI_REQUEST_NULL) {
        requests_.erase(requests_.begin() + i);
        entries_.erase(entries_.begin() + i);
      }
    return over;
  }

 private:
  MPI_Request* add(Kind kind, std::size_t index) {
    entries_.push_back({kind, index});
    return &requests_.emplace_back(MPI_REQUEST_NULL);
  }

  Numbered<Over> entries_;
  Numbered<MPI_Request> requests_;
};

/// One exchange between ranks and I/O ranks.
///
/// What the ranks of a node have for I/O ranks goes through its window in batches. A batch has two halves,
/// and each ends with a barrier of the node when its messages are over. To I/O ranks: ranks pack their cells
/// into the window, then messages go out of it. From them: messages come into it, then ranks unpack their
/// cells. Beside that, an I/O rank exchanges messages with other nodes through its buffer, in order of nodes,
/// while nodes exchange with I/O ranks in order of those: the lowest node that has something to do can always
/// do so.
class NodeMessages::Exchange {
 public:
  Exchange(NodeMessages& owner, bool to_io, const SendBlocks& send_blocks, std::span<const Message> sources,
           const Pack& pack, const Unpack& unpack)
      : owner_(owner),
        to_io_(to_io),
        send_blocks_(send_blocks),
        sources_(sources),
        pack_(pack),
        unpack_(unpack) {
    group_sources();
  }
  void run();

 private:
  using Kind = NodeRequests::Kind;
  /// What an I/O rank gets from (gives to) one node: sources first .. end - 1 in order_.
  struct Group {
    int node = 0;
    std::size_t first = 0, end = 0;
    std::int64_t head = 0, bytes = 0;  ///< bytes: with the head
    std::int64_t place = 0;            ///< in the buffer
  };
  /// Send blocks first .. end - 1, which are in this node's window at a time.
  struct Batch {
    std::size_t first = 0, end = 0;
    std::vector<std::int64_t> places;  ///< in the window
  };

  void group_sources();
  int here() const { return owner_.nodes_.index(); }
  std::byte* in_buffer(const Group& group) { return owner_.buffer_.of(owner_.buffer_bytes_) + group.place; }
  void start(Kind kind, std::byte* message, std::int64_t bytes, int rank, std::size_t index = 0);
  void hand_over(bool packs, std::size_t number, std::byte* cells, std::byte& there, std::int64_t bytes);
  void hand_over_group(const Group& group, std::byte* message);
  void fill_buffer();
  void next_batch();
  void hand_over_mine(const SendBlock& block, std::byte* message);
  void exchange_block(const SendBlock& block, std::byte* message);
  void begin_half(bool first);

  NodeMessages& owner_;
  const bool to_io_;  ///< cells go to I/O ranks
  const SendBlocks& send_blocks_;
  std::span<const Message> sources_;
  const Pack& pack_;
  const Unpack& unpack_;
  std::vector<std::size_t> order_;  ///< numbers of sources, in order of nodes
  std::vector<Group> groups_;
  std::size_t next_group_ = 0;  ///< the first that has not been in the buffer
  Batch batch_;
  bool in_first_half_ = true;
  bool has_messages_ = true;  ///< of this half; else its barrier, or all is over
  NodeRequests requests_;
};

NodeMessages::NodeMessages(const Comm& comm, const Nodes& nodes, Numbered<int> io_ranks,
                           std::int64_t most_bytes)
    : comm_(comm), nodes_(nodes), io_ranks_(std::move(io_ranks)) {
  comm.handle();  // all are here to make them
  nodes.node().handle();
  const auto me = std::find(io_ranks_.begin(), io_ranks_.end(), comm.rank());
  if (me != io_ranks_.end()) my_io_ = static_cast<int>(me - io_ranks_.begin());
  ranks_of_.resize(nodes.count());
  for (const auto node : comm.all_gather(std::int64_t{nodes.index()})) {
    ranks_of_[node].push_back(static_cast<int>(node_of_.size()));
    node_of_.push_back(static_cast<int>(node));
  }
  for (const auto& ranks : ranks_of_)
    most_ranks_ = std::max(most_ranks_, static_cast<std::int64_t>(ranks.size()));
  most_bytes_ = most_message_cells(most_bytes, most_ranks_) + message_head(most_ranks_);
  usable_ = nodes.count() > 1 && most_ranks_ > 1;
}

std::int64_t NodeMessages::bytes() const {
  return static_cast<std::int64_t>(window_.size() + buffer_.bytes());
}

void NodeMessages::count(std::span<const Message> sent) {
  for (const auto& message : sent) {
    if (!is_elsewhere(message.rank)) continue;
    ++messages_;
    message_bytes_ += message.bytes;
  }
}

void NodeMessages::reserve(std::int64_t cell_bytes) {
  const std::int64_t wanted =
      std::min(most_bytes_, whole_lines(std::min(cell_bytes, most_bytes_) + message_head(most_ranks_)));
  if (!usable_ || wanted <= buffer_bytes_) return;
  buffer_bytes_ = 0;
  const Status made = caught([&] {
    window_ = SharedWindow();
    window_ = SharedWindow(nodes_.node(), static_cast<std::size_t>(wanted));
    if (my_io_ >= 0) buffer_.of(wanted);
  });
  usable_ = comm_.agree(made).ok();
  if (usable_)
    buffer_bytes_ = wanted;
  else
    window_ = SharedWindow();
}

void NodeMessages::Exchange::group_sources() {
  const auto node_of = [&](std::size_t i) { return owner_.node_of_[sources_[i].rank]; };
  order_.resize(sources_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::size_t a, std::size_t b) { return node_of(a) < node_of(b); });
  for (std::size_t k = 0; k < order_.size(); ++k) {
    const std::size_t i = order_[k];
    if (groups_.empty() || groups_.back().node != node_of(i)) groups_.push_back({node_of(i), k, k});
    groups_.back().end = k + 1;
    groups_.back().bytes += sources_[i].bytes;
  }
  for (auto& group : groups_) {
    group.head = message_head(static_cast<std::int64_t>(group.end - group.first));
    group.bytes += group.head;
  }
}

void NodeMessages::Exchange::start(Kind kind, std::byte* message, std::int64_t bytes, int rank,
                                   std::size_t index) {
  requests_.start(kind, owner_.comm_, message, bytes, rank, index);
  if (kind != Kind::send) return;
  ++owner_.messages_;
  owner_.message_bytes_ += bytes;
}

void NodeMessages::Exchange::hand_over(bool packs, std::size_t number, std::byte* cells, std::byte& there,
                                       std::int64_t bytes) {
  if (packs)
    there = std::byte{pack_(number, cells) > 0};
  else
    unpack_(number, cells, there != std::byte{0} ? bytes : 0);
}

void NodeMessages::Exchange::hand_over_group(const Group& group, std::byte* message) {
  std::int64_t at = group.head;
  for (std::size_t k = group.first; k < group.end; ++k) {
    const std::int64_t bytes = sources_[order_[k]].bytes;
    hand_over(!to_io_, order_[k], message + at, message[k - group.first], bytes);
    at += bytes;
  }
}

/// Starts messages of an I/O rank and other nodes, as many as the buffer holds.
void NodeMessages::Exchange::fill_buffer() {
  std::int64_t at = 0;
  std::size_t started = 0;
  for (; next_group_ < groups_.size() && started < k_most_node_requests; ++next_group_) {
    Group& group = groups_[next_group_];
    if (group.node == here()) continue;
    if (at > 0 && at + group.bytes > owner_.buffer_bytes_) break;
    group.place = at;
    if (!to_io_) hand_over_group(group, in_buffer(group));
    start(to_io_ ? Kind::receive : Kind::send, in_buffer(group), group.bytes,
          owner_.speaker(group.node, owner_.my_io_), next_group_);
    at += whole_lines(group.bytes);
    ++started;
  }
}

void NodeMessages::Exchange::next_batch() {
  batch_ = {batch_.end, batch_.end, {}};
  std::int64_t at = 0;
  for (; batch_.end < send_blocks_.size(); ++batch_.end) {
    const std::int64_t bytes = send_block_bytes(send_blocks_[batch_.end]);
    if (at > 0 && at + bytes > owner_.buffer_bytes_) break;
    batch_.places.push_back(at);
    at += whole_lines(bytes);
  }
}

/// This rank's cells, between its memory and the window.
void NodeMessages::Exchange::hand_over_mine(const SendBlock& block, std::byte* message) {
  if (block.mine == 0) return;
  hand_over(to_io_, static_cast<std::size_t>(block.io), message + place_of_mine(block), message[block.mark],
            block.mine);
}

/// The node's cells, between the window and the I/O rank.
void NodeMessages::Exchange::exchange_block(const SendBlock& block, std::byte* message) {
  if (block.io == owner_.my_io_) {
    for (const auto& group : groups_)
      if (group.node == here()) hand_over_group(group, message);
    return;
  }
  const int io_rank = owner_.io_ranks_[block.io];
  if (owner_.is_elsewhere(io_rank) && owner_.speaker(here(), block.io) == owner_.comm_.rank())
    start(to_io_ ? Kind::send : Kind::receive, message, send_block_bytes(block), io_rank);
}

void NodeMessages::Exchange::begin_half(bool first) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  in_first_half_ = first;
  has_messages_ = true;
  if (first) next_batch();
  for (std::size_t k = batch_.first; k < batch_.end; ++k) {
    std::byte* const message = owner_.window_.data() + batch_.places[k - batch_.first];
    if (first == to_io_)
      hand_over_mine(send_blocks_[k], message);
    else
      exchange_block(send_blocks_[k], message);
  }
}

void NodeMessages::Exchange::run() {
  const Kind of_window = to_io_ ? Kind::send : Kind::receive;
  const Kind of_buffer = to_io_ ? Kind::receive : Kind::send;
  begin_half(true);
  for (;;) {
    if (!requests_.has(of_buffer)) fill_buffer();
    if (has_messages_ && !requests_.has(of_window)) {
      has_messages_ = false;
      requests_.start_barrier(owner_.nodes_.node());
    }
    if (requests_.empty()) return;
    for (const auto& over : requests_.wait()) {
      if (over.kind == Kind::receive && to_io_)
        hand_over_group(groups_[over.index], in_buffer(groups_[over.index]));
      if (over.kind == Kind::barrier && (in_first_half_ || batch_.end < send_blocks_.size()))
        begin_half(!in_first_half_);
    }
  }
}

void NodeMessages::to_io_ranks(const SendBlocks& send_blocks, const Pack& pack,
                               std::span<const Message> sources, const Unpack& unpack) {
  Exchange(*this, true, send_blocks, sources, pack, unpack).run();
}

void NodeMessages::from_io_ranks(const SendBlocks& send_blocks, const Unpack& unpack,
                                 std::span<const Message> sources, const Pack& pack) {
  Exchange(*this, false, send_blocks, sources, pack, unpack).run();
}

}  // namespace shoal
