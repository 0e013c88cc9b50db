// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/numbered.hpp"
#include "comm/nodes.hpp"
#include "comm/shared_window.hpp"
#include "rearrange/messages.hpp"

namespace shoal {

/// A byte for each rank of a node that has cells in a message, in front of them: they are there.
inline std::int64_t message_head(std::int64_t ranks) {
  return (ranks + 7) / 8 * 8;
}
/// Cells that a message may have, in bytes, where a window has window_bytes and a node up to so many ranks.
std::int64_t most_message_cells(std::int64_t window_bytes, std::int64_t ranks);

/// What the ranks of a node have for one I/O rank, behind each other in order of ranks: in bytes, or in
/// cells.
struct SendBlock {
  int io = 0;               ///< the I/O rank's number
  int ranks = 0;            ///< of the node that have something
  int mark = 0;             ///< those before this one
  std::int64_t all = 0;     ///< what they have
  std::int64_t before = 0;  ///< those before this one
  std::int64_t mine = 0;    ///< this rank
};
/// One for each I/O rank that gets something, ascending.
using SendBlocks = Numbered<SendBlock>;

/// Send blocks of what each rank of the node has for some I/O ranks; all of them name the same, ascending.
/// Collective over the node.
SendBlocks send_blocks_of_node(const Comm& node, const std::vector<int>& io_ranks,
                               const std::vector<std::int64_t>& mine);
/// Memory that this takes for each I/O rank while it works.
inline constexpr std::int64_t k_send_block_work_bytes = 60;

/// Messages between ranks and I/O ranks in two levels: what the ranks of a node have for one I/O rank they
/// put behind each other in a window that they share, and it goes to another node as one message; on the I/O
/// rank's own node it is taken from the window. The same backwards. Serves any number of fields and maps.
class NodeMessages {
 public:
  /// most_bytes: of the window of a node, and of memory of an I/O rank for what comes or goes. Collective.
  NodeMessages(const Comm& comm, const Nodes& nodes, Numbered<int> io_ranks, std::int64_t most_bytes);

  /// Are there nodes of several ranks, and memory that they share? The same on all ranks.
  bool usable() const { return usable_; }
  /// Cells that ranks of a node may have for one I/O rank, in bytes.
  std::int64_t most_cell_bytes() const { return most_bytes_ - message_head(most_ranks_); }
  /// Room for as many of these bytes. Where there is no memory it is not usable any more, on all ranks alike.
  /// Collective.
  void reserve(std::int64_t cell_bytes);
  const Nodes& nodes() const { return nodes_; }
  /// Is the rank on another node than this one?
  bool is_elsewhere(int rank) const { return node_of_[rank] != nodes_.index(); }

  /// The message of a number: makes it at `to` and returns its length (all or nothing), or gets what came.
  using Pack = std::function<std::int64_t(std::size_t number, std::byte* to)>;
  using Unpack = std::function<void(std::size_t number, const std::byte* from, std::int64_t bytes)>;

  /// Each rank's cells go to I/O ranks. send_blocks: in bytes. pack: for the I/O rank of this number, where
  /// this rank has something. sources: what comes to this rank, in order of ranks; unpack: from those. As
  /// exchange_messages otherwise. Collective.
  void to_io_ranks(const SendBlocks& send_blocks, const Pack& pack, std::span<const Message> sources,
                   const Unpack& unpack);
  /// Backwards: pack for the sources, unpack from the I/O ranks. Collective.
  void from_io_ranks(const SendBlocks& send_blocks, const Unpack& unpack, std::span<const Message> sources,
                     const Pack& pack);

  /// Messages that this rank sends otherwise.
  void count(std::span<const Message> sent);
  /// Sent by this rank to other nodes, so far.
  std::int64_t messages() const { return messages_; }
  std::int64_t message_bytes() const { return message_bytes_; }
  /// Of memory, this rank's and its node's window.
  std::int64_t bytes() const;

 private:
  class Exchange;
  /// Which rank of a node talks to the I/O rank of this number.
  int speaker(int node, int io) const {
    const auto& ranks = ranks_of_[node];
    return ranks[io % ranks.count()];
  }

  const Comm& comm_;
  const Nodes& nodes_;
  Numbered<int> io_ranks_;
  int my_io_ = -1;
  std::int64_t most_bytes_;
  Numbered<int> node_of_;             ///< of each rank
  Numbered<Numbered<int>> ranks_of_;  ///< of each node, ascending
  std::int64_t most_ranks_ = 1;       ///< of a node
  bool usable_ = false;
  SharedWindow window_;
  ScratchBuffer buffer_;
  std::int64_t buffer_bytes_ = 0;  ///< of the window, and of the room
  std::int64_t messages_ = 0, message_bytes_ = 0;
};

}  // namespace shoal
