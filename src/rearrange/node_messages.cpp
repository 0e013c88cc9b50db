// SPDX-License-Identifier: BSD-3-Clause
#include "rearrange/node_messages.hpp"
#include "comm/tags.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

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
  send_blocks.reserve(static_cast<std::size_t>(std::count_if(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), [](auto c) { return c > 0; })));
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

/// What an I/O rank gets from (gives to) one node: sources first .. end - 1 in the order below.
struct NodeMessages::Group {
  int node = 0;
  std::size_t first = 0, end = 0;
  std::int64_t head = 0, bytes = 0;  ///< bytes: with the head
};

struct NodeMessages::Groups {
  std::vector<std::size_t> sources;  ///< numbers of them, in order of nodes
  std::vector<Group> groups;
};

/// Send blocks first .. end - 1, which are in this node's window at a time.
struct NodeMessages::Batch {
  std::size_t first = 0, end = 0;
  std::vector<std::int64_t> places;

  /// Calls visit(send_block, place) for each.
  template <class Visit>
  void for_each(const SendBlocks& send_blocks, Visit&& visit) const {
    for (std::size_t k = first; k < end; ++k)
      visit(send_blocks[k], places[k - first]);
  }
};

/// What is under way.
class NodeMessages::Requests {
 public:
  enum class Kind { receive, send, barrier };
  struct Over {
    Kind kind;
    std::size_t index;
    std::int64_t bytes;
  };
  MPI_Request* add(Kind kind, std::size_t index = 0) {
    entries_.push_back({kind, index});
    return &requests_.emplace_back(MPI_REQUEST_NULL);
  }
  bool empty() const { return requests_.empty(); }
  std::size_t open(Kind kind) const {
    return static_cast<std::size_t>(
        std::count_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.kind == kind; }));
  }
  /// Waits until something is.
  std::vector<Over> wait() {
    const auto n = static_cast<int>(requests_.size());
    std::vector<int> which(requests_.size());
    std::vector<MPI_Status> statuses(requests_.size());
    int count = 0;
    check_mpi(MPI_Waitsome(n, requests_.data(), &count, which.data(), statuses.data()), "MPI_Waitsome");
    std::vector<Over> over;
    for (int k = 0; k < count; ++k) {
      const auto i = static_cast<std::size_t>(which[static_cast<std::size_t>(k)]);
      int got = 0;
      if (entries_[i].kind == Kind::receive)
        MPI_Get_count(&statuses[static_cast<std::size_t>(k)], MPI_BYTE, &got);
      over.push_back({entries_[i].kind, entries_[i].index, got});
    }
    for (std::size_t i = requests_.size(); i-- > 0;)
      if (requests_[i] == MPI_REQUEST_NULL) {
        requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(i));
        entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    return over;
  }

 private:
  struct Entry {
    Kind kind;
    std::size_t index;
  };
  std::vector<Entry> entries_;
  std::vector<MPI_Request> requests_;
};

NodeMessages::NodeMessages(const Comm& comm, const Nodes& nodes, std::vector<int> io_ranks,
                           std::int64_t most_bytes)
    : comm_(comm), nodes_(nodes), io_ranks_(std::move(io_ranks)) {
  comm.handle();  // all are here to make them
  nodes.node().handle();
  const auto me = std::find(io_ranks_.begin(), io_ranks_.end(), comm.rank());
  if (me != io_ranks_.end()) my_io_ = static_cast<int>(me - io_ranks_.begin());
  ranks_of_.resize(static_cast<std::size_t>(nodes.count()));
  for (const auto node : comm.all_gather(std::int64_t{nodes.index()})) {
    ranks_of_[static_cast<std::size_t>(node)].push_back(static_cast<int>(node_of_.size()));
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
    if (my_io_ >= 0) buffer_.of(static_cast<std::size_t>(wanted));
  });
  usable_ = comm_.agree(made).ok();
  if (usable_)
    buffer_bytes_ = wanted;
  else
    window_ = SharedWindow();
}

NodeMessages::Groups NodeMessages::groups_of(std::span<const Message> sources) const {
  const auto node_of = [&](std::size_t i) { return node_of_[static_cast<std::size_t>(sources[i].rank)]; };
  Groups out;
  out.sources.resize(sources.size());
  std::iota(out.sources.begin(), out.sources.end(), std::size_t{0});
  std::stable_sort(out.sources.begin(), out.sources.end(),
                   [&](std::size_t a, std::size_t b) { return node_of(a) < node_of(b); });
  for (std::size_t k = 0; k < sources.size(); ++k) {
    const std::size_t i = out.sources[k];
    if (out.groups.empty() || out.groups.back().node != node_of(i))
      out.groups.push_back({node_of(i), k, k, 0, 0});
    out.groups.back().end = k + 1;
    out.groups.back().bytes += sources[i].bytes;
  }
  for (auto& group : out.groups) {
    group.head = message_head(static_cast<std::int64_t>(group.end - group.first));
    group.bytes += group.head;
  }
  return out;
}

NodeMessages::Batch NodeMessages::batch_from(const SendBlocks& send_blocks, std::size_t first) const {
  Batch batch{first, first, {}};
  std::int64_t at = 0;
  for (; batch.end < send_blocks.size(); ++batch.end) {
    const std::int64_t bytes = send_block_bytes(send_blocks[batch.end]);
    if (at > 0 && at + bytes > buffer_bytes_) break;
    batch.places.push_back(at);
    at += whole_lines(bytes);
  }
  return batch;
}

void NodeMessages::send(Requests& requests, const std::byte* from, std::int64_t bytes, int rank) {
  check_mpi(MPI_Isend(from, static_cast<int>(bytes), MPI_BYTE, rank, tags::rearranged_by_node, comm_.handle(),
                      requests.add(Requests::Kind::send)),
            "MPI_Isend");
  ++messages_;
  message_bytes_ += bytes;
}

void NodeMessages::receive(Requests& requests, std::byte* to, std::int64_t bytes, int rank,
                           std::size_t index) const {
  check_mpi(MPI_Irecv(to, static_cast<int>(bytes), MPI_BYTE, rank, tags::rearranged_by_node, comm_.handle(),
                      requests.add(Requests::Kind::receive, index)),
            "MPI_Irecv");
}

// The ranks of the node wait for each other, in MPI: what others wait for goes on meanwhile.
void NodeMessages::synchronize(Requests& requests) const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  check_mpi(MPI_Ibarrier(nodes_.node().handle(), requests.add(Requests::Kind::barrier)), "MPI_Ibarrier");
}

// An I/O rank takes messages of other nodes in order of nodes, nodes send to I/O ranks in order of those: the
// lowest node that has something to send can always do so.
void NodeMessages::to_io_ranks(const SendBlocks& send_blocks, const Pack& pack,
                               std::span<const Message> sources, const Unpack& unpack) {
  const Groups in = groups_of(sources);
  const auto take = [&](const Group& group, const std::byte* message) {
    std::int64_t at = group.head;
    for (std::size_t k = group.first; k < group.end; ++k) {
      const std::size_t i = in.sources[k];
      const bool there = message[k - group.first] != std::byte{0};
      unpack(i, message + at, there ? sources[i].bytes : 0);
      at += sources[i].bytes;
    }
  };
  Requests requests;
  std::vector<std::int64_t> places(in.groups.size(), 0);
  std::size_t next_group = 0;
  const auto start_receives = [&] {
    std::int64_t at = 0;
    std::size_t started = 0;
    for (; next_group < in.groups.size() && started < k_most_node_requests; ++next_group) {
      const Group& group = in.groups[next_group];
      if (group.node == nodes_.index()) continue;
      if (at > 0 && at + group.bytes > buffer_bytes_) break;
      places[next_group] = at;
      receive(requests, buffer_.of(static_cast<std::size_t>(buffer_bytes_)) + at, group.bytes,
              speaker(group.node, static_cast<std::size_t>(my_io_)), next_group);
      at += whole_lines(group.bytes);
      ++started;
    }
  };
  Batch batch;
  const auto fill_window = [&] {
    batch = batch_from(send_blocks, batch.end);
    batch.for_each(send_blocks, [&](const SendBlock& send_block, std::int64_t place) {
      if (send_block.mine == 0) return;
      std::byte* const message = window_.data() + place;
      const auto io = static_cast<std::size_t>(send_block.io);
      message[send_block.mark] = std::byte{pack(io, message + place_of_mine(send_block)) > 0};
    });
    synchronize(requests);
  };
  const auto empty_window = [&] {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    batch.for_each(send_blocks, [&](const SendBlock& send_block, std::int64_t place) {
      const auto io = static_cast<std::size_t>(send_block.io);
      const std::byte* const message = window_.data() + place;
      if (send_block.io == my_io_) {
        for (const auto& group : in.groups)
          if (group.node == nodes_.index()) take(group, message);
      } else if (is_elsewhere(io_ranks_[io]) && speaker(nodes_.index(), io) == comm_.rank()) {
        send(requests, message, send_block_bytes(send_block), io_ranks_[io]);
      }
    });
  };
  enum class Step { filled, emptied, over } step = Step::filled;
  fill_window();
  for (;;) {
    if (requests.open(Requests::Kind::receive) == 0) start_receives();
    if (requests.empty()) return;
    for (const auto& over : requests.wait()) {
      if (over.kind == Requests::Kind::receive) {
        take(in.groups[over.index], buffer_.of(static_cast<std::size_t>(buffer_bytes_)) + places[over.index]);
      } else if (over.kind == Requests::Kind::barrier) {
        if (step == Step::filled) {
          empty_window();
          step = Step::emptied;
        } else if (batch.end < send_blocks.size()) {
          fill_window();
          step = Step::filled;
        } else {
          step = Step::over;
        }
      }
    }
    const bool sent = requests.open(Requests::Kind::send) + requests.open(Requests::Kind::barrier) == 0;
    if (step == Step::emptied && sent) synchronize(requests);
  }
}

void NodeMessages::from_io_ranks(const SendBlocks& send_blocks, const Unpack& unpack,
                                 std::span<const Message> sources, const Pack& pack) {
  const Groups out = groups_of(sources);
  const auto give = [&](const Group& group, std::byte* message) {
    std::int64_t at = group.head;
    for (std::size_t k = group.first; k < group.end; ++k) {
      const std::size_t i = out.sources[k];
      message[k - group.first] = std::byte{pack(i, message + at) > 0};
      at += sources[i].bytes;
    }
  };
  Requests requests;
  std::size_t next_group = 0;
  const auto start_sends = [&] {
    std::int64_t at = 0;
    std::size_t started = 0;
    for (; next_group < out.groups.size() && started < k_most_node_requests; ++next_group) {
      const Group& group = out.groups[next_group];
      if (group.node == nodes_.index()) continue;
      if (at > 0 && at + group.bytes > buffer_bytes_) break;
      std::byte* const message = buffer_.of(static_cast<std::size_t>(buffer_bytes_)) + at;
      give(group, message);
      send(requests, message, group.bytes, speaker(group.node, static_cast<std::size_t>(my_io_)));
      at += whole_lines(group.bytes);
      ++started;
    }
  };
  Batch batch;
  const auto fill_window = [&] {
    batch = batch_from(send_blocks, batch.end);
    batch.for_each(send_blocks, [&](const SendBlock& send_block, std::int64_t place) {
      const auto io = static_cast<std::size_t>(send_block.io);
      std::byte* const message = window_.data() + place;
      if (send_block.io == my_io_) {
        for (const auto& group : out.groups)
          if (group.node == nodes_.index()) give(group, message);
      } else if (is_elsewhere(io_ranks_[io]) && speaker(nodes_.index(), io) == comm_.rank()) {
        receive(requests, message, send_block_bytes(send_block), io_ranks_[io], io);
      }
    });
  };
  const auto empty_window = [&] {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    batch.for_each(send_blocks, [&](const SendBlock& send_block, std::int64_t place) {
      if (send_block.mine == 0) return;
      const std::byte* const message = window_.data() + place;
      const bool there = message[send_block.mark] != std::byte{0};
      unpack(static_cast<std::size_t>(send_block.io), message + place_of_mine(send_block),
             there ? send_block.mine : 0);
    });
  };
  enum class Step { filling, filled, emptied, over } step = Step::filling;
  fill_window();
  for (;;) {
    if (requests.open(Requests::Kind::send) == 0) start_sends();
    if (step == Step::filling && requests.open(Requests::Kind::receive) == 0) {
      step = Step::filled;
      synchronize(requests);
    }
    if (requests.empty()) return;
    for (const auto& over : requests.wait()) {
      if (over.kind != Requests::Kind::barrier) continue;
      if (step == Step::filled) {
        empty_window();
        step = Step::emptied;
        synchronize(requests);
      } else if (batch.end < send_blocks.size()) {
        fill_window();
        step = Step::filling;
      } else {
        step = Step::over;
      }
    }
  }
}

}  // namespace shoal
